-- What the person said who acknowledged or resolved an alert last.
-- +goose Up
ALTER TABLE scheduler_alert ADD COLUMN comment TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_alert DROP COLUMN comment;
