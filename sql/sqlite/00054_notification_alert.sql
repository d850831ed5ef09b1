-- The alerts that a notification tells of, each as of one of its changes.
-- +goose Up
CREATE TABLE scheduler_notification_alert (
    notification_id TEXT NOT NULL,
    alert_id        TEXT NOT NULL,
    seq             INTEGER NOT NULL,
    PRIMARY KEY (notification_id, alert_id)
);
CREATE INDEX idx_notification_alert ON scheduler_notification_alert (alert_id, notification_id);

-- +goose Down
DROP TABLE scheduler_notification_alert;
