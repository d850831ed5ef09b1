-- Attempts that a retry replaced in the row of the run.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_execution_attempt (
    execution_id  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt       INT NOT NULL,
    status        VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    reason        VARCHAR(30) CHARACTER SET ascii COLLATE ascii_bin NULL,
    node_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    start_time    DATETIME(3) NULL,
    end_time      DATETIME(3) NULL,
    error_message TEXT NULL,
    result        TEXT NULL,
    PRIMARY KEY (execution_id, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_execution_attempt;
