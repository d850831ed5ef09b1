-- Whether a backfill also runs the times again whose fires failed. While it is active its status is ACTIVE_FAILED then,
-- so that nodes of the former release leave it alone.
-- +goose Up
ALTER TABLE scheduler_backfill ADD COLUMN include_failed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_backfill_status ON scheduler_backfill (status, id);

-- +goose Down
DROP INDEX idx_backfill_status;
ALTER TABLE scheduler_backfill DROP COLUMN include_failed;
