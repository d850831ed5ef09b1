-- Runs whose retries are used up and that wait for a person.
-- +goose Up
CREATE TABLE scheduler_dead_letter (
    execution_id TEXT NOT NULL,
    job_id       TEXT NOT NULL,
    reason       TEXT NOT NULL DEFAULT '',
    message      TEXT,
    replayed_as  TEXT,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (execution_id)
);
CREATE INDEX idx_dead_letter_job ON scheduler_dead_letter (job_id, execution_id);

-- +goose Down
DROP TABLE scheduler_dead_letter;
