-- Who did what; rows are only added.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_audit_log (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    create_time DATETIME(3) NOT NULL,
    user_id     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    user_name   VARCHAR(100) NULL,
    token_id    VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    address     VARCHAR(100) NULL,
    request_id  VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
    action      VARCHAR(200) NOT NULL,
    object      VARCHAR(200) NULL,
    status      INTEGER NOT NULL,
    code        VARCHAR(100) NULL,
    changes     MEDIUMTEXT NULL,
    PRIMARY KEY (id),
    KEY idx_user_id (user_id, id),
    KEY idx_object (object, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_audit_log;
