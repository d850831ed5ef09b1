-- Past times of a job that are run on demand. open_times are those whose runs may not be over, in ms since 1970.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_backfill (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id       VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    from_time    DATETIME(3) NOT NULL,
    to_time      DATETIME(3) NOT NULL,
    schedule     MEDIUMTEXT NOT NULL,
    cursor_time  DATETIME(3) NOT NULL,
    max_parallel INT NOT NULL,
    status       VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    planned      INT NOT NULL,
    already_run  INT NOT NULL,
    started      INT NOT NULL,
    open_times   MEDIUMTEXT NOT NULL,
    user_name    VARCHAR(255) NOT NULL,
    version      INT NOT NULL,
    create_time  DATETIME(3) NOT NULL,
    update_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY idx_job_id (job_id),
    KEY idx_status (status)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_backfill;
