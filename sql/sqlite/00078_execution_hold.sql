-- Calls that were held back: how often, and for how long in ms, before an attempt. Other attempts have no row.
-- +goose Up
CREATE TABLE scheduler_execution_hold (
    execution TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    holds     INTEGER NOT NULL,
    held_ms   INTEGER NOT NULL,
    PRIMARY KEY (execution, attempt)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_execution_hold;
