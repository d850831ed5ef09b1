-- Alerts.
-- +goose Up
CREATE TABLE scheduler_alert (
    id          TEXT NOT NULL,
    alert_type  TEXT NOT NULL,
    alert_level TEXT NOT NULL,
    content     TEXT NOT NULL,
    status      TEXT NOT NULL,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_alert_type ON scheduler_alert (alert_type);
CREATE INDEX idx_alert_status ON scheduler_alert (status);

-- +goose Down
DROP TABLE scheduler_alert;
