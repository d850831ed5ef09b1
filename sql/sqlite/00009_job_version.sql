-- The definition of each version of a job.
-- +goose Up
CREATE TABLE scheduler_job_version (
    job_id      TEXT NOT NULL,
    version     INTEGER NOT NULL,
    definition  TEXT NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (job_id, version)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_job_version;
