-- What is usual for a job; and the fires of which not all shards have ended, or whose batch is not closed.
-- +goose Up
CREATE TABLE scheduler_job_baseline (
    job_id   BLOB NOT NULL,
    data     BLOB NOT NULL,
    fold_seq INTEGER NOT NULL,
    PRIMARY KEY (job_id)
) WITHOUT ROWID;
CREATE TABLE scheduler_sharded_fire (
    job_id   BLOB NOT NULL,
    fire     BLOB NOT NULL,
    opened   INTEGER NOT NULL,
    data     BLOB NOT NULL,
    fold_seq INTEGER NOT NULL,
    PRIMARY KEY (job_id, fire)
) WITHOUT ROWID;
CREATE INDEX idx_sharded_fire_opened ON scheduler_sharded_fire (opened);

-- +goose Down
DROP TABLE scheduler_sharded_fire;
DROP TABLE scheduler_job_baseline;
