-- What attempts of commands took: processor time in ms, and the most memory at once in KiB. Other attempts have no row.
-- +goose Up
CREATE TABLE scheduler_execution_usage (
    execution TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    cpu_ms    INTEGER NOT NULL,
    peak_kb   INTEGER NOT NULL,
    PRIMARY KEY (execution, attempt)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_execution_usage;
