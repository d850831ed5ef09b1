-- The definition of each version of a job.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_version (
    job_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version     INT NOT NULL,
    definition  MEDIUMTEXT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (job_id, version)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_version;
