-- Past times of a job that are run on demand. open_times are those whose runs may not be over, in ms since 1970.
-- +goose Up
CREATE TABLE scheduler_backfill (
    id           TEXT NOT NULL,
    job_id       TEXT NOT NULL,
    from_time    TEXT NOT NULL,
    to_time      TEXT NOT NULL,
    schedule     TEXT NOT NULL,
    cursor_time  TEXT NOT NULL,
    max_parallel INTEGER NOT NULL,
    status       TEXT NOT NULL,
    planned      INTEGER NOT NULL,
    already_run  INTEGER NOT NULL,
    started      INTEGER NOT NULL,
    open_times   TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    version      INTEGER NOT NULL,
    create_time  TEXT NOT NULL,
    update_time  TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_backfill_job ON scheduler_backfill (job_id, id);
CREATE INDEX idx_backfill_active ON scheduler_backfill (id) WHERE status = 'ACTIVE';

-- +goose Down
DROP TABLE scheduler_backfill;
