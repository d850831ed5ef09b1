-- When a group was paused or resumed last, why, by whom, and until when. hold_version is the version that this belongs to.
-- +goose Up
ALTER TABLE scheduler_job_group ADD COLUMN held_at TEXT;
ALTER TABLE scheduler_job_group ADD COLUMN pause_note TEXT;
ALTER TABLE scheduler_job_group ADD COLUMN paused_until TEXT;
ALTER TABLE scheduler_job_group ADD COLUMN hold_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_group_unsettled ON scheduler_job_group (name) WHERE settled = 0;
CREATE INDEX idx_group_paused_until ON scheduler_job_group (paused_until) WHERE paused_until IS NOT NULL;

-- +goose Down
DROP INDEX idx_group_paused_until;
DROP INDEX idx_group_unsettled;
ALTER TABLE scheduler_job_group DROP COLUMN hold_version;
ALTER TABLE scheduler_job_group DROP COLUMN paused_until;
ALTER TABLE scheduler_job_group DROP COLUMN pause_note;
ALTER TABLE scheduler_job_group DROP COLUMN held_at;
