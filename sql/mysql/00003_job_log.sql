-- Output of runs: one row holds consecutive lines of one attempt. Ids grow with time.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_log (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    log_type     VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    content      MEDIUMTEXT NOT NULL,
    create_time  DATETIME(3) NOT NULL,
    attempt      INT NOT NULL DEFAULT 1,
    seq_from     BIGINT NOT NULL,
    seq_to       BIGINT NOT NULL,
    truncated    TINYINT(1) NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    KEY idx_execution (execution_id, seq_from)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_log;
