-- Approvals in workflow runs (docs/workflows.md): what people are asked, and their votes. The state is that of the
-- execution. voters is a JSON list of user ids, NULL where the permission decides; until_at is milliseconds since 1970.
-- +goose Up
CREATE TABLE scheduler_approval (
    execution_id TEXT NOT NULL PRIMARY KEY,
    run_id       TEXT NOT NULL,
    workflow_id  TEXT NOT NULL,
    step_key     TEXT NOT NULL,
    text         TEXT,
    need         INTEGER NOT NULL,
    on_timeout   TEXT NOT NULL,
    excluded     TEXT,
    voters       TEXT,
    opened_time  TEXT NOT NULL,
    until_at     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE scheduler_approval_vote (
    execution_id TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    decision     TEXT NOT NULL,
    comment      TEXT,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (execution_id, user_id)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE scheduler_approval_vote;
DROP TABLE scheduler_approval;
