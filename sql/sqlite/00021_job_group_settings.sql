-- A group can hold its jobs; settled says that all of them follow.
-- +goose Up
ALTER TABLE scheduler_job_group ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_job_group ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;
ALTER TABLE scheduler_job_group ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE scheduler_job_group ADD COLUMN update_time TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_job_group DROP COLUMN paused;
ALTER TABLE scheduler_job_group DROP COLUMN settled;
ALTER TABLE scheduler_job_group DROP COLUMN version;
ALTER TABLE scheduler_job_group DROP COLUMN update_time;
