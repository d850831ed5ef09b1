-- The name of what a call was about, and how many equal calls a row stands for.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_audit_log
    ADD COLUMN object_name VARCHAR(200) NULL,
    ADD COLUMN calls INT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE scheduler_audit_log DROP COLUMN object_name, DROP COLUMN calls;
