-- The span that asked for a run (W3C Trace Context).
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_execution ADD COLUMN trace_parent VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL;

-- +goose Down
ALTER TABLE scheduler_job_execution DROP COLUMN trace_parent;
