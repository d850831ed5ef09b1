-- The secrets that an attempt has opened, sealed: they are hidden in its reports.
-- +goose Up
ALTER TABLE scheduler_run_token ADD COLUMN key_id TEXT;
ALTER TABLE scheduler_run_token ADD COLUMN sealed BLOB;

-- +goose Down
ALTER TABLE scheduler_run_token DROP COLUMN sealed;
ALTER TABLE scheduler_run_token DROP COLUMN key_id;
