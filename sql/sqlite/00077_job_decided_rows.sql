-- What the ranges that are kept have decided. It reads each execution once.
-- +goose Up
UPDATE scheduler_job_definition SET decided_until = r.until
    FROM (SELECT job_id, MAX(skip_to) AS until FROM scheduler_job_execution WHERE skip_to IS NOT NULL GROUP BY job_id) r
    WHERE r.job_id = scheduler_job_definition.id AND decided_until IS NULL;

-- +goose Down
SELECT 1;
