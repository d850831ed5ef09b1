-- Locks of the design document; the hot path takes none of them.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_lock (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    node_id     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    lock_key    VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    lock_time   DATETIME(3) NOT NULL,
    expire_time DATETIME(3) NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_lock_key (lock_key),
    KEY idx_expire_time (expire_time)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_lock;
