-- Who is told of the runs of a job, and by what time of the day they are to succeed (docs/alerts.md), as JSON.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_definition
    ADD COLUMN alerts TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_job_definition DROP COLUMN alerts;
