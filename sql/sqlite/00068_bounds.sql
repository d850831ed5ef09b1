-- What is set aside because the store refuses it: an event, a look at a level, a deadline, a plan of messages, or a
-- digest, which lies whole in data. It is kept for a week. Columns of SQLite hold texts of any length.
-- +goose Up
CREATE TABLE scheduler_set_aside (
    kind   TEXT NOT NULL,
    id     TEXT NOT NULL,
    job    TEXT NULL,
    rule   TEXT NULL,
    state  TEXT NOT NULL,
    reason TEXT NOT NULL,
    time   TEXT NOT NULL,
    data   BLOB NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX idx_set_aside_time ON scheduler_set_aside (time);

-- +goose Down
DROP TABLE scheduler_set_aside;
