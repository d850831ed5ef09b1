-- Answers to calls that carry an Idempotency-Key.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_idempotency_key (
    scope       VARCHAR(191) NOT NULL,
    idem_key    VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    body_hash   VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    status      INT NOT NULL DEFAULT 0,
    body        MEDIUMTEXT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (scope, idem_key),
    KEY idx_create_time (create_time)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_idempotency_key;
