-- Who asked for a run, and the exit codes of commands.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_execution ADD COLUMN triggered_by VARCHAR(255) NULL, ADD COLUMN exit_code INT NULL;

-- +goose Down
ALTER TABLE scheduler_job_execution DROP COLUMN triggered_by, DROP COLUMN exit_code;
