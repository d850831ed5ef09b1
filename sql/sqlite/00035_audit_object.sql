-- The name of what a call was about, and how many equal calls a row stands for.
-- +goose Up
ALTER TABLE scheduler_audit_log ADD COLUMN object_name TEXT NULL;
ALTER TABLE scheduler_audit_log ADD COLUMN calls INTEGER NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE scheduler_audit_log DROP COLUMN object_name;
ALTER TABLE scheduler_audit_log DROP COLUMN calls;
