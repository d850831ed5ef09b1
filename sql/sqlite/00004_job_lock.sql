-- Locks of the design document; the hot path takes none of them.
-- +goose Up
CREATE TABLE scheduler_job_lock (
    id          TEXT NOT NULL,
    job_id      TEXT NOT NULL,
    node_id     TEXT NOT NULL,
    lock_key    TEXT NOT NULL,
    lock_time   TEXT NOT NULL,
    expire_time TEXT NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_lock_key ON scheduler_job_lock (lock_key);
CREATE INDEX idx_lock_expire_time ON scheduler_job_lock (expire_time);

-- +goose Down
DROP TABLE scheduler_job_lock;
