-- Values that definitions name; the key that seals them is not in the database.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_secret (
    name        VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    description VARCHAR(500) NOT NULL DEFAULT '',
    key_id      VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sealed      MEDIUMBLOB NOT NULL,
    version     INT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    update_time DATETIME(3) NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_secret;
