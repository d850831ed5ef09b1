-- The attempts to send a notification. A row without a result is one that goes on, or whose node has died.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_alert_delivery (
    notification_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt         INT NOT NULL,
    start_time      DATETIME(3) NOT NULL,
    end_time        DATETIME(3) NULL,
    result          VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
    code            VARCHAR(100) NULL,
    message         VARCHAR(1000) NULL,
    node_id         VARCHAR(100) NOT NULL,
    PRIMARY KEY (notification_id, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_alert_delivery;
