-- What people define for alerting: rules, channels, silences, routes, templates, teams, contacts and on-call plans.
-- document has the fields of the kind as JSON. sealed is what nobody may read back, such as the password of a channel.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_alert_setting (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind        VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(100) NOT NULL,
    group_name  VARCHAR(100) NOT NULL DEFAULT '',
    enabled     TINYINT NOT NULL,
    document    MEDIUMTEXT NOT NULL,
    key_id      VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    sealed      MEDIUMBLOB NULL,
    version     INT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    update_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_alert_setting_name (kind, name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_alert_setting;
