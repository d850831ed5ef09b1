-- What is usual for a job; and the fires of which not all shards have ended, or whose batch is not closed.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_baseline (
    job_id   BINARY(16) NOT NULL,
    data     VARBINARY(256) NOT NULL,
    fold_seq BIGINT NOT NULL,
    PRIMARY KEY (job_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_sharded_fire (
    job_id   BINARY(16) NOT NULL,
    fire     BINARY(8) NOT NULL,
    opened   BIGINT NOT NULL,
    data     VARBINARY(2000) NOT NULL,
    fold_seq BIGINT NOT NULL,
    PRIMARY KEY (job_id, fire),
    KEY idx_opened (opened)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_sharded_fire;
DROP TABLE IF EXISTS scheduler_job_baseline;
