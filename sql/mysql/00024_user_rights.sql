-- The groups a user is bound to (NULL: all), and the right to run commands.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN job_groups MEDIUMTEXT NULL, ADD COLUMN commands TINYINT(1) NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_user DROP COLUMN job_groups, DROP COLUMN commands;
