-- What rules did when their alerts fired, one row an action and episode; and when rules were evaluated last, in one row.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_alert_action (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    alert_id     VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    rule_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    rule_version INT NOT NULL,
    position     INT NOT NULL,
    kind         VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    target       VARCHAR(100) NOT NULL,
    state        VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    code         VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    result       VARCHAR(1000) NULL,
    editor       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    next_try     DATETIME(3) NOT NULL,
    act_time     DATETIME(3) NULL,
    create_time  DATETIME(3) NOT NULL,
    end_time     DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY idx_alert_action_due (state, next_try, id),
    KEY idx_alert_action_rule (rule_id, act_time),
    KEY idx_alert_action_alert (alert_id, position)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_alert_evaluation (
    id       INT NOT NULL,
    finished DATETIME(3) NOT NULL,
    node_id  VARCHAR(100) NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_alert_evaluation;
DROP TABLE IF EXISTS scheduler_alert_action;
