-- The fencing token of a lock, and room for holders that name a node and its epoch.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_lock ADD COLUMN token BIGINT NOT NULL DEFAULT 0,
    MODIFY node_id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL;

-- +goose Down
ALTER TABLE scheduler_job_lock DROP COLUMN token,
    MODIFY node_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL;
