-- Which rules do nothing for some time, although they are enabled: what they cost, in steps, and why they were suspended.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_rule_state (
    rule  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    until DATETIME(3) NOT NULL,
    cost  BIGINT NOT NULL,
    why   VARCHAR(1000) NOT NULL,
    PRIMARY KEY (rule)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_rule_state;
