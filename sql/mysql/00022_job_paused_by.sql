-- Who paused a job: itself (empty) or its group.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_definition ADD COLUMN paused_by VARCHAR(20) NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE scheduler_job_definition DROP COLUMN paused_by;
