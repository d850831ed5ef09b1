-- Until when ranges of skipped fires have decided the times of a job: no later plan may name one of them again.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_definition ADD COLUMN decided_until DATETIME(3) NULL;

-- +goose Down
ALTER TABLE scheduler_job_definition DROP COLUMN decided_until;
