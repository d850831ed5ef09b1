-- Runs of workflows (docs/workflows.md): id is that of the root execution, state is written by
-- domain/entity/workflow, and seq counts its changes. A step has one id over all runs of its workflow. wake_at is
-- milliseconds since 1970.
-- +goose Up
CREATE TABLE scheduler_workflow_run (
    id          TEXT NOT NULL PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    version     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    phase       INTEGER NOT NULL,
    state       BLOB,
    wake_at     INTEGER,
    problem     TEXT,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_run_wake ON scheduler_workflow_run (wake_at) WHERE wake_at IS NOT NULL;
CREATE TABLE scheduler_workflow_step (
    id          TEXT NOT NULL PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    name        TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_step_workflow ON scheduler_workflow_step (workflow_id);

-- +goose Down
DROP TABLE scheduler_workflow_step;
DROP TABLE scheduler_workflow_run;
