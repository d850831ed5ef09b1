-- Signed-in users; only the hash of a token is kept.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_session (
    token_hash  VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_id     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    expires_at  DATETIME(3) NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (token_hash),
    KEY idx_user_id (user_id),
    KEY idx_expires_at (expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_session;
