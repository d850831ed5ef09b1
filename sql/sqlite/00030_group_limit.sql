-- Places of groups with a limit, and which jobs are bound by one.
-- +goose Up
CREATE TABLE scheduler_group_place (
    job_id       TEXT NOT NULL,
    fire_key     TEXT NOT NULL,
    group_name   TEXT NOT NULL,
    execution_id TEXT,
    PRIMARY KEY (job_id, fire_key)
) WITHOUT ROWID;
CREATE INDEX idx_group_place_group ON scheduler_group_place (group_name);
UPDATE scheduler_job_group SET settled = 0 WHERE max_concurrency > 0;
ALTER TABLE scheduler_job_definition ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_job_definition DROP COLUMN limited;
DROP TABLE scheduler_group_place;
