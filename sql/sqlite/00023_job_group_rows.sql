-- Every group has a row; the one without a name stands for all jobs.
-- +goose Up
INSERT OR IGNORE INTO scheduler_job_group (name, create_time)
SELECT DISTINCT group_name, strftime('%Y-%m-%d %H:%M:%f', 'now') FROM scheduler_job_definition
UNION SELECT '', strftime('%Y-%m-%d %H:%M:%f', 'now');

-- +goose Down
DELETE FROM scheduler_job_group WHERE name = '';
