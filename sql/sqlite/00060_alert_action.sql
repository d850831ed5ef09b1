-- What rules did when their alerts fired, one row an action and episode; and when rules were evaluated last, in one row.
-- +goose Up
CREATE TABLE scheduler_alert_action (
    id           TEXT NOT NULL,
    alert_id     TEXT NOT NULL,
    rule_id      TEXT NOT NULL,
    rule_version INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    target       TEXT NOT NULL,
    state        TEXT NOT NULL,
    code         TEXT NOT NULL DEFAULT '',
    result       TEXT NULL,
    editor       TEXT NOT NULL DEFAULT '',
    next_try     TEXT NOT NULL,
    act_time     TEXT NULL,
    create_time  TEXT NOT NULL,
    end_time     TEXT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_alert_action_due ON scheduler_alert_action (state, next_try, id);
CREATE INDEX idx_alert_action_rule ON scheduler_alert_action (rule_id, act_time);
CREATE INDEX idx_alert_action_alert ON scheduler_alert_action (alert_id, position);
CREATE TABLE scheduler_alert_evaluation (
    id       INTEGER NOT NULL,
    finished TEXT NOT NULL,
    node_id  TEXT NOT NULL,
    PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE scheduler_alert_evaluation;
DROP TABLE scheduler_alert_action;
