-- The id of the user who saved the definition of a workflow last, as of this version; NULL is nobody that is known.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_version ADD COLUMN edited_by VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL;

-- +goose Down
ALTER TABLE scheduler_job_version DROP COLUMN edited_by;
