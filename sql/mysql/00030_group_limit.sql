-- Places of groups with a limit, and which jobs are bound by one. The only statement that cannot run twice stands last.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_group_place (
    job_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    fire_key     VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    group_name   VARCHAR(100) NOT NULL,
    execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    PRIMARY KEY (job_id, fire_key),
    KEY idx_group_name (group_name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
UPDATE scheduler_job_group SET settled = 0 WHERE max_concurrency > 0;
ALTER TABLE scheduler_job_definition ADD COLUMN limited TINYINT(1) NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_job_definition DROP COLUMN limited;
DROP TABLE IF EXISTS scheduler_group_place;
