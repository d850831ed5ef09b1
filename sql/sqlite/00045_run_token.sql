-- The tokens with which targets of asynchronous calls report about an attempt.
-- +goose Up
CREATE TABLE scheduler_run_token (
    execution_id TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    token_hash   TEXT NOT NULL,
    secret_names TEXT,
    line_count   INTEGER NOT NULL,
    byte_count   INTEGER NOT NULL,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (execution_id, attempt)
);

-- +goose Down
DROP TABLE scheduler_run_token;
