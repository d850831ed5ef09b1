-- The moments by which fires are to have succeeded, until they are judged. Only fires of jobs with a deadline have a row.
-- told is 1 once it was told that the deadline is at risk.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_deadline (
    moment         DATETIME(3) NOT NULL,
    job_id         VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    fire_key       VARCHAR(100) NOT NULL,
    scheduled_time DATETIME(3) NOT NULL,
    told           TINYINT NOT NULL DEFAULT 0,
    PRIMARY KEY (moment, job_id, fire_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_deadline;
