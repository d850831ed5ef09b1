-- The tokens with which targets of asynchronous calls report about an attempt.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_run_token (
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempt      INT NOT NULL,
    token_hash   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    secret_names TEXT CHARACTER SET ascii COLLATE ascii_bin NULL,
    line_count   INT NOT NULL,
    byte_count   INT NOT NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (execution_id, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_run_token;
