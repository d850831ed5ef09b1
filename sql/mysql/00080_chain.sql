-- What stored changes owe (docs/chains.md): run_id are the 16 bytes of an execution's id, owed_since milliseconds since
-- 1970. And which jobs start which others; rows of deleted jobs go with the deletion.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_workflow_todo (
    run_id     BINARY(16) NOT NULL,
    kind       VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    item       VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owed_since BIGINT NOT NULL,
    PRIMARY KEY (run_id, kind, item),
    KEY idx_todo_since (kind, owed_since)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_job_next (
    job_id  VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    next_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (job_id, next_id),
    KEY idx_next (next_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_next;
DROP TABLE IF EXISTS scheduler_workflow_todo;
