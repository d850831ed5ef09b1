-- Output of runs: one row holds consecutive lines of one attempt. Ids grow with time.
-- +goose Up
CREATE TABLE scheduler_job_log (
    id           TEXT NOT NULL,
    job_id       TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    log_type     TEXT NOT NULL,
    content      TEXT NOT NULL,
    create_time  TEXT NOT NULL,
    attempt      INTEGER NOT NULL DEFAULT 1,
    seq_from     INTEGER NOT NULL,
    seq_to       INTEGER NOT NULL,
    truncated    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);
CREATE INDEX idx_log_execution ON scheduler_job_log (execution_id, seq_from);

-- +goose Down
DROP TABLE scheduler_job_log;
