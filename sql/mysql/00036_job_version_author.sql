-- Who made a version of a job; NULL is nobody that is known.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_version ADD COLUMN created_by VARCHAR(100) NULL;

-- +goose Down
ALTER TABLE scheduler_job_version DROP COLUMN created_by;
