-- When a group was paused or resumed last, why, by whom, and until when. hold_version is the version that this belongs to.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_group
    ADD COLUMN held_at DATETIME(3) NULL,
    ADD COLUMN pause_note TEXT NULL,
    ADD COLUMN paused_until DATETIME(3) NULL,
    ADD COLUMN hold_version INT NOT NULL DEFAULT 0,
    ADD KEY idx_settled (settled),
    ADD KEY idx_paused_until (paused_until);

-- +goose Down
ALTER TABLE scheduler_job_group DROP KEY idx_paused_until, DROP KEY idx_settled, DROP COLUMN hold_version, DROP COLUMN paused_until,
    DROP COLUMN pause_note, DROP COLUMN held_at;
