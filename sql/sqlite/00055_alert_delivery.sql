-- The attempts to send a notification. A row without a result is one that goes on, or whose node has died.
-- +goose Up
CREATE TABLE scheduler_alert_delivery (
    notification_id TEXT NOT NULL,
    attempt         INTEGER NOT NULL,
    start_time      TEXT NOT NULL,
    end_time        TEXT NULL,
    result          TEXT NULL,
    code            TEXT NULL,
    message         TEXT NULL,
    node_id         TEXT NOT NULL,
    PRIMARY KEY (notification_id, attempt)
);

-- +goose Down
DROP TABLE scheduler_alert_delivery;
