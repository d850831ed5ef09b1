-- What the ranges that are kept have decided. It reads each execution once.
-- +goose NO TRANSACTION
-- +goose Up
UPDATE scheduler_job_definition j
    JOIN (SELECT job_id, MAX(skip_to) AS until FROM scheduler_job_execution WHERE skip_to IS NOT NULL GROUP BY job_id) r
    ON r.job_id = j.id
    SET j.decided_until = r.until
    WHERE j.decided_until IS NULL;

-- +goose Down
SELECT 1;
