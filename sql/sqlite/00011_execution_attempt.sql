-- Attempts that a retry replaced in the row of the run.
-- +goose Up
CREATE TABLE scheduler_execution_attempt (
    execution_id  TEXT NOT NULL,
    attempt       INTEGER NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT,
    node_id       TEXT NOT NULL DEFAULT '',
    start_time    TEXT,
    end_time      TEXT,
    error_message TEXT,
    result        TEXT,
    PRIMARY KEY (execution_id, attempt)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_execution_attempt;
