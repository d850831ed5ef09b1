-- Who made a version of a job; NULL is nobody that is known.
-- +goose Up
ALTER TABLE scheduler_job_version ADD COLUMN created_by TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_job_version DROP COLUMN created_by;
