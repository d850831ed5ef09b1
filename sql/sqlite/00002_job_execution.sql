-- Runs. What each index costs is written in docs/adr/0001.
-- +goose Up
CREATE TABLE scheduler_job_execution (
    id               TEXT NOT NULL,
    job_id           TEXT NOT NULL,
    node_id          TEXT NOT NULL DEFAULT '',
    shard_id         TEXT,
    status           TEXT NOT NULL DEFAULT 'WAITING',
    start_time       TEXT,
    end_time         TEXT,
    duration         INTEGER,
    retry_count      INTEGER NOT NULL DEFAULT 0,
    error_message    TEXT,
    result           TEXT,
    create_time      TEXT NOT NULL,
    update_time      TEXT NOT NULL,
    fire_key         TEXT NOT NULL,
    scheduled_time   TEXT,
    due_time         TEXT,
    trigger_type     TEXT NOT NULL,
    job_version      INTEGER NOT NULL DEFAULT 0,
    priority         INTEGER NOT NULL DEFAULT 5,
    params           TEXT,
    reason           TEXT,
    epoch            INTEGER NOT NULL DEFAULT 0,
    token            INTEGER NOT NULL DEFAULT 0,
    job_fence        INTEGER,
    attempt          INTEGER NOT NULL DEFAULT 0,
    node_losses      INTEGER,
    claim_key        TEXT,
    start_deadline   TEXT,
    cancel_requested INTEGER,
    progress         INTEGER,
    checkpoint       TEXT,
    retry_of         TEXT,
    root_id          TEXT,
    skip_from        TEXT,
    skip_to          TEXT,
    skip_count       INTEGER,
    skip_at_least    INTEGER,
    PRIMARY KEY (id)
);
CREATE INDEX idx_execution_job ON scheduler_job_execution (job_id, id);
CREATE INDEX idx_execution_claim ON scheduler_job_execution (claim_key, id) WHERE claim_key IS NOT NULL;

-- +goose Down
DROP TABLE scheduler_job_execution;
