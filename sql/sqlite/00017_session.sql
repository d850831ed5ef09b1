-- Signed-in users; only the hash of a token is kept.
-- +goose Up
CREATE TABLE scheduler_session (
    token_hash  TEXT NOT NULL,
    user_id     TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (token_hash)
);
CREATE INDEX idx_session_user ON scheduler_session (user_id);
CREATE INDEX idx_session_expires_at ON scheduler_session (expires_at);

-- +goose Down
DROP TABLE scheduler_session;
