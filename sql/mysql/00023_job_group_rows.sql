-- Every group has a row; the one without a name stands for all jobs.
-- +goose NO TRANSACTION
-- +goose Up
INSERT IGNORE INTO scheduler_job_group (name, create_time)
SELECT DISTINCT group_name, UTC_TIMESTAMP(3) FROM scheduler_job_definition UNION SELECT '', UTC_TIMESTAMP(3);

-- +goose Down
DELETE FROM scheduler_job_group WHERE name = '';
