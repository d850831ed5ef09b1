-- Messages about alerts, each to one channel. Within group key and channel they go by their numbers.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_notification (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    group_key   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    channel_id  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    number      INT NOT NULL,
    state       VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    next_try    DATETIME(3) NOT NULL,
    lease_node  VARCHAR(100) NULL,
    lease_until DATETIME(3) NULL,
    attempts    INT NOT NULL,
    why         VARCHAR(1000) NULL,
    create_time DATETIME(3) NOT NULL,
    update_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_notification_number (group_key, channel_id, number),
    KEY idx_notification_due (state, next_try, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_notification;
