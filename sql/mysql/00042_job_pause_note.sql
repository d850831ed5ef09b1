-- Why a job is paused, by whom, and until when.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_definition
    ADD COLUMN pause_note TEXT NULL,
    ADD COLUMN paused_until DATETIME(3) NULL,
    ADD KEY idx_paused_until (paused_until);

-- +goose Down
ALTER TABLE scheduler_job_definition DROP KEY idx_paused_until, DROP COLUMN paused_until, DROP COLUMN pause_note;
