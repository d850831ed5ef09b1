-- The queue of a job, in order: whoever lets the next fire start reads no others.
-- +goose Up
CREATE INDEX idx_live_fire_seq ON scheduler_live_fire (job_id, active, seq);

-- +goose Down
DROP INDEX idx_live_fire_seq;
