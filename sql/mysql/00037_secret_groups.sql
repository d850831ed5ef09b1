-- The groups whose jobs may use a secret, as a JSON list; NULL is every group.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_secret ADD COLUMN job_groups MEDIUMTEXT NULL;

-- +goose Down
ALTER TABLE scheduler_secret DROP COLUMN job_groups;
