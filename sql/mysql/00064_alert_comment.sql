-- What the person said who acknowledged or resolved an alert last.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_alert ADD COLUMN comment VARCHAR(1000) NULL;

-- +goose Down
ALTER TABLE scheduler_alert DROP COLUMN comment;
