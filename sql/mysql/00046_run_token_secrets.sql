-- The secrets that an attempt has opened, sealed: they are hidden in its reports.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_run_token
    ADD COLUMN key_id VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN sealed MEDIUMBLOB NULL;

-- +goose Down
ALTER TABLE scheduler_run_token DROP COLUMN sealed, DROP COLUMN key_id;
