-- Events that must reach subscribers; written with what they tell.
-- +goose Up
CREATE TABLE scheduler_outbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id    TEXT NOT NULL,
    topic       TEXT NOT NULL,
    event_key   TEXT NOT NULL DEFAULT '',
    event_type  TEXT NOT NULL,
    payload     TEXT NOT NULL,
    create_time TEXT NOT NULL
);
CREATE UNIQUE INDEX uk_outbox_event_id ON scheduler_outbox (event_id);

-- +goose Down
DROP TABLE scheduler_outbox;
