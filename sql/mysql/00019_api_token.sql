-- API tokens; only the hash of one is kept.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_api_token (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name         VARCHAR(100) NOT NULL,
    token_hash   VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    scopes       MEDIUMTEXT NULL,
    expires_at   DATETIME(3) NOT NULL,
    last_used_at DATETIME(3) NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_token_hash (token_hash),
    KEY idx_user_id (user_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_api_token;
