-- Whom a notification addresses, by which template, and what it says where it tells of no alerts. recipients is a JSON list
-- of mail addresses, body a JSON object of the forms of a text.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_notification
    ADD COLUMN template_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN recipients TEXT NULL,
    ADD COLUMN body MEDIUMTEXT NULL,
    ADD KEY idx_notification_channel (channel_id, create_time);

-- +goose Down
ALTER TABLE scheduler_notification
    DROP KEY idx_notification_channel, DROP COLUMN body, DROP COLUMN recipients, DROP COLUMN template_id;
