-- Whom a notification addresses, by which template, and what it says where it tells of no alerts. recipients is a JSON list
-- of mail addresses, body a JSON object of the forms of a text.
-- +goose Up
ALTER TABLE scheduler_notification ADD COLUMN template_id TEXT NOT NULL DEFAULT '';
ALTER TABLE scheduler_notification ADD COLUMN recipients TEXT NULL;
ALTER TABLE scheduler_notification ADD COLUMN body TEXT NULL;
CREATE INDEX idx_notification_channel ON scheduler_notification (channel_id, create_time);

-- +goose Down
DROP INDEX idx_notification_channel;
ALTER TABLE scheduler_notification DROP COLUMN body;
ALTER TABLE scheduler_notification DROP COLUMN recipients;
ALTER TABLE scheduler_notification DROP COLUMN template_id;
