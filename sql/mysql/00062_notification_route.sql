-- Which route planned a notification, and whether it tells that an alert fires or that it is over.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_notification ADD COLUMN route_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL;
ALTER TABLE scheduler_notification_alert ADD COLUMN firing TINYINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE scheduler_notification_alert DROP COLUMN firing;
ALTER TABLE scheduler_notification DROP COLUMN route_id;
