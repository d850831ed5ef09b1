-- Whether a backfill also runs the times again whose fires failed. While it is active its status is ACTIVE_FAILED then,
-- so that nodes of the former release leave it alone.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_backfill ADD COLUMN include_failed TINYINT(1) NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_backfill DROP COLUMN include_failed;
