-- Who asked for a run, and the exit codes of commands.
-- +goose Up
ALTER TABLE scheduler_job_execution ADD COLUMN triggered_by TEXT;
ALTER TABLE scheduler_job_execution ADD COLUMN exit_code INTEGER;

-- +goose Down
ALTER TABLE scheduler_job_execution DROP COLUMN triggered_by;
ALTER TABLE scheduler_job_execution DROP COLUMN exit_code;
