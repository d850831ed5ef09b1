-- API tokens; only the hash of one is kept.
-- +goose Up
CREATE TABLE scheduler_api_token (
    id           TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    token_hash   TEXT NOT NULL,
    scopes       TEXT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT NULL,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_api_token_hash ON scheduler_api_token (token_hash);
CREATE INDEX idx_api_token_user ON scheduler_api_token (user_id);

-- +goose Down
DROP TABLE scheduler_api_token;
