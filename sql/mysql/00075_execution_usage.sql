-- What attempts of commands took: processor time in ms, and the most memory at once in KiB. Other attempts have no row.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_execution_usage (
    execution VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt   INT NOT NULL,
    cpu_ms    BIGINT NOT NULL,
    peak_kb   BIGINT NOT NULL,
    PRIMARY KEY (execution, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_execution_usage;
