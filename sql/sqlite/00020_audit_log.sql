-- Who did what; rows are only added.
-- +goose Up
CREATE TABLE scheduler_audit_log (
    id          TEXT NOT NULL,
    create_time TEXT NOT NULL,
    user_id     TEXT NULL,
    user_name   TEXT NULL,
    token_id    TEXT NULL,
    address     TEXT NULL,
    request_id  TEXT NULL,
    action      TEXT NOT NULL,
    object      TEXT NULL,
    status      INTEGER NOT NULL,
    code        TEXT NULL,
    changes     TEXT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_audit_user ON scheduler_audit_log (user_id, id);
CREATE INDEX idx_audit_object ON scheduler_audit_log (object, id);

-- +goose Down
DROP TABLE scheduler_audit_log;
