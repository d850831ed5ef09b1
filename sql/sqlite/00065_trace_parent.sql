-- The span that asked for a run (W3C Trace Context).
-- +goose Up
ALTER TABLE scheduler_job_execution ADD COLUMN trace_parent TEXT;

-- +goose Down
ALTER TABLE scheduler_job_execution DROP COLUMN trace_parent;
