-- What ends add up to, by job and by scope (the cluster, a group, a node), in an hour of UTC or a day of server.timeZone.
-- The key begins with the time: rows of now lie together, and so do those that are old.
-- +goose Up
CREATE TABLE scheduler_job_stat (
    period      TEXT NOT NULL,
    start       INTEGER NOT NULL,
    job_id      BLOB NOT NULL,
    runs        INTEGER NOT NULL,
    success     INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    timeout     INTEGER NOT NULL,
    cancelled   INTEGER NOT NULL,
    dead        INTEGER NOT NULL,
    skipped     INTEGER NOT NULL,
    retries     INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    lateness_ms INTEGER NOT NULL,
    late_runs   INTEGER NOT NULL,
    histogram   BLOB NOT NULL,
    fold_seq    INTEGER NOT NULL,
    PRIMARY KEY (period, start, job_id)
) WITHOUT ROWID;
CREATE INDEX idx_job_stat_job ON scheduler_job_stat (job_id, period, start);
CREATE TABLE scheduler_scope_stat (
    period      TEXT NOT NULL,
    start       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    name        BLOB NOT NULL,
    runs        INTEGER NOT NULL,
    success     INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    timeout     INTEGER NOT NULL,
    cancelled   INTEGER NOT NULL,
    dead        INTEGER NOT NULL,
    skipped     INTEGER NOT NULL,
    retries     INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    lateness_ms INTEGER NOT NULL,
    late_runs   INTEGER NOT NULL,
    histogram   BLOB NOT NULL,
    fold_seq    INTEGER NOT NULL,
    PRIMARY KEY (period, start, kind, name)
) WITHOUT ROWID;
CREATE INDEX idx_scope_stat_scope ON scheduler_scope_stat (kind, name, period, start);

-- +goose Down
DROP TABLE scheduler_scope_stat;
DROP TABLE scheduler_job_stat;
