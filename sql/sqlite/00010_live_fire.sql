-- Places of coordinated jobs: one row for each fire that is not over.
-- +goose Up
CREATE TABLE scheduler_live_fire (
    job_id      TEXT NOT NULL,
    fire_key    TEXT NOT NULL,
    active      INTEGER NOT NULL,
    remaining   INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    scheduled   INTEGER NOT NULL,
    job_version INTEGER NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (job_id, fire_key)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_live_fire;
