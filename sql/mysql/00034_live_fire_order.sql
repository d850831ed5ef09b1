-- The queue of a job, in order: whoever lets the next fire start reads no others.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_live_fire ADD KEY idx_job_seq (job_id, active, seq);

-- +goose Down
ALTER TABLE scheduler_live_fire DROP KEY idx_job_seq;
