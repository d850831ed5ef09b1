-- The id of the user who saved the definition of a workflow last, as of this version; NULL is nobody that is known.
-- +goose Up
ALTER TABLE scheduler_job_version ADD COLUMN edited_by TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_job_version DROP COLUMN edited_by;
