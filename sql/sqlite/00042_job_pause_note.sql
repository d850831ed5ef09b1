-- Why a job is paused, by whom, and until when.
-- +goose Up
ALTER TABLE scheduler_job_definition ADD COLUMN pause_note TEXT;
ALTER TABLE scheduler_job_definition ADD COLUMN paused_until TEXT;
CREATE INDEX idx_job_paused_until ON scheduler_job_definition (paused_until) WHERE paused_until IS NOT NULL;

-- +goose Down
DROP INDEX idx_job_paused_until;
ALTER TABLE scheduler_job_definition DROP COLUMN paused_until;
ALTER TABLE scheduler_job_definition DROP COLUMN pause_note;
