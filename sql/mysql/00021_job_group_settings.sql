-- A group can hold its jobs; settled says that all of them follow.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_group
    ADD COLUMN paused TINYINT(1) NOT NULL DEFAULT 0,
    ADD COLUMN settled TINYINT(1) NOT NULL DEFAULT 1,
    ADD COLUMN version INT NOT NULL DEFAULT 1,
    ADD COLUMN update_time DATETIME(3) NULL;

-- +goose Down
ALTER TABLE scheduler_job_group DROP COLUMN paused, DROP COLUMN settled, DROP COLUMN version, DROP COLUMN update_time;
