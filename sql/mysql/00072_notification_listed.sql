-- How a message that was sent told of its alerts: named is how many it named, and listed is 1 for each of these. The
-- columns are added at the end of the row, without a rebuild of the tables.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_notification_alert ADD COLUMN listed TINYINT NULL;
ALTER TABLE scheduler_notification ADD COLUMN named INT NULL;

-- +goose Down
ALTER TABLE scheduler_notification DROP COLUMN named;
ALTER TABLE scheduler_notification_alert DROP COLUMN listed;
