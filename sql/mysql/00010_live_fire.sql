-- Places of coordinated jobs: one row for each fire that is not over.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_live_fire (
    job_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    fire_key    VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    active      TINYINT(1) NOT NULL,
    remaining   INT NOT NULL,
    seq         BIGINT NOT NULL,
    scheduled   TINYINT(1) NOT NULL,
    job_version INT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (job_id, fire_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_live_fire;
