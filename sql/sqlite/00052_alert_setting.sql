-- What people define for alerting: rules, channels, silences, routes, templates, teams, contacts and on-call plans.
-- document has the fields of the kind as JSON. sealed is what nobody may read back, such as the password of a channel.
-- +goose Up
CREATE TABLE scheduler_alert_setting (
    id          TEXT NOT NULL,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    group_name  TEXT NOT NULL DEFAULT '',
    enabled     INTEGER NOT NULL,
    document    TEXT NOT NULL,
    key_id      TEXT NOT NULL DEFAULT '',
    sealed      BLOB NULL,
    version     INTEGER NOT NULL,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_alert_setting_name ON scheduler_alert_setting (kind, name);

-- +goose Down
DROP TABLE scheduler_alert_setting;
