-- Events that must reach subscribers; written with what they tell.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_outbox (
    id          BIGINT NOT NULL AUTO_INCREMENT,
    event_id    VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    topic       VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_key   VARCHAR(255) NOT NULL DEFAULT '',
    event_type  VARCHAR(100) NOT NULL,
    payload     MEDIUMTEXT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_event_id (event_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_outbox;
