-- Runs made by hand from other runs: few rows, so that the runs' own table needs no index for them.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_execution_replay (
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    retry_of     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    root_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (execution_id),
    KEY idx_retry_of (retry_of),
    KEY idx_root_id (root_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_execution_replay;
