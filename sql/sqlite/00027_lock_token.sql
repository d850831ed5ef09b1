-- The fencing token of a lock.
-- +goose Up
ALTER TABLE scheduler_job_lock ADD COLUMN token INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_job_lock DROP COLUMN token;
