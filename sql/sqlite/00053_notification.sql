-- Messages about alerts, each to one channel. Within group key and channel they go by their numbers.
-- +goose Up
CREATE TABLE scheduler_notification (
    id          TEXT NOT NULL,
    group_key   TEXT NOT NULL,
    channel_id  TEXT NOT NULL,
    number      INTEGER NOT NULL,
    state       TEXT NOT NULL,
    next_try    TEXT NOT NULL,
    lease_node  TEXT NULL,
    lease_until TEXT NULL,
    attempts    INTEGER NOT NULL,
    why         TEXT NULL,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_notification_number ON scheduler_notification (group_key, channel_id, number);
CREATE INDEX idx_notification_due ON scheduler_notification (state, next_try, id);

-- +goose Down
DROP TABLE scheduler_notification;
