-- What stored changes owe (docs/chains.md): run_id are the 16 bytes of an execution's id, owed_since milliseconds since
-- 1970. And which jobs start which others; rows of deleted jobs go with the deletion.
-- +goose Up
CREATE TABLE scheduler_workflow_todo (
    run_id     BLOB NOT NULL,
    kind       TEXT NOT NULL,
    item       TEXT NOT NULL,
    owed_since INTEGER NOT NULL,
    PRIMARY KEY (run_id, kind, item)
) WITHOUT ROWID;
CREATE INDEX idx_todo_since ON scheduler_workflow_todo (kind, owed_since);
CREATE TABLE scheduler_job_next (
    job_id  TEXT NOT NULL,
    next_id TEXT NOT NULL,
    PRIMARY KEY (job_id, next_id)
) WITHOUT ROWID;
CREATE INDEX idx_next ON scheduler_job_next (next_id);

-- +goose Down
DROP TABLE scheduler_job_next;
DROP TABLE scheduler_workflow_todo;
