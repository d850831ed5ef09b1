-- Groups of jobs.
-- +goose Up
CREATE TABLE scheduler_job_group (
    name            TEXT NOT NULL,
    max_concurrency INTEGER NOT NULL DEFAULT 0,
    create_time     TEXT NOT NULL,
    PRIMARY KEY (name)
);

-- +goose Down
DROP TABLE scheduler_job_group;
