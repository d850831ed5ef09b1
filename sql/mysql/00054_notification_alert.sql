-- The alerts that a notification tells of, each as of one of its changes.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_notification_alert (
    notification_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    alert_id        VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq             BIGINT NOT NULL,
    PRIMARY KEY (notification_id, alert_id),
    KEY idx_notification_alert (alert_id, notification_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_notification_alert;
