-- Answers to calls that carry an Idempotency-Key.
-- +goose Up
CREATE TABLE scheduler_idempotency_key (
    scope       TEXT NOT NULL,
    idem_key    TEXT NOT NULL,
    body_hash   TEXT NOT NULL DEFAULT '',
    status      INTEGER NOT NULL DEFAULT 0,
    body        TEXT,
    create_time TEXT NOT NULL,
    PRIMARY KEY (scope, idem_key)
);
CREATE INDEX idx_idempotency_create_time ON scheduler_idempotency_key (create_time);

-- +goose Down
DROP TABLE scheduler_idempotency_key;
