-- The moments by which fires are to have succeeded, until they are judged. Only fires of jobs with a deadline have a row.
-- told is 1 once it was told that the deadline is at risk.
-- +goose Up
CREATE TABLE scheduler_deadline (
    moment         TEXT NOT NULL,
    job_id         TEXT NOT NULL,
    fire_key       TEXT NOT NULL,
    scheduled_time TEXT NOT NULL,
    told           INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (moment, job_id, fire_key)
);

-- +goose Down
DROP TABLE scheduler_deadline;
