-- Groups of jobs.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_group (
    name            VARCHAR(100) NOT NULL,
    max_concurrency INT NOT NULL DEFAULT 0,
    create_time     DATETIME(3) NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_group;
