-- Calls that were held back: how often, and for how long in ms, before an attempt. Other attempts have no row.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_execution_hold (
    execution VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt   INT NOT NULL,
    holds     INT NOT NULL,
    held_ms   BIGINT NOT NULL,
    PRIMARY KEY (execution, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_execution_hold;
