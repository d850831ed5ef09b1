-- Runs made by hand from other runs: few rows, so that the runs' own table needs no index for them.
-- +goose Up
CREATE TABLE scheduler_execution_replay (
    execution_id TEXT NOT NULL,
    retry_of     TEXT NOT NULL,
    root_id      TEXT NOT NULL,
    PRIMARY KEY (execution_id)
);
CREATE INDEX idx_replay_retry_of ON scheduler_execution_replay (retry_of);
CREATE INDEX idx_replay_root_id ON scheduler_execution_replay (root_id);

-- +goose Down
DROP TABLE scheduler_execution_replay;
