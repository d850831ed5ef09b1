-- The groups a user is bound to (NULL: all), and the right to run commands.
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN job_groups TEXT NULL;
ALTER TABLE scheduler_user ADD COLUMN commands INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_user DROP COLUMN job_groups;
ALTER TABLE scheduler_user DROP COLUMN commands;
