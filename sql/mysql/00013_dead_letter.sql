-- Runs whose retries are used up and that wait for a person.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_dead_letter (
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    reason       VARCHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    message      TEXT NULL,
    replayed_as  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (execution_id),
    KEY idx_job_id (job_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_dead_letter;
