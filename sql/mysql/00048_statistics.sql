-- What ends add up to, by job and by scope (the cluster, a group, a node), in an hour of UTC or a day of server.timeZone.
-- The key begins with the time: rows of now lie together, and so do those that are old.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_stat (
    period      VARCHAR(4) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    start       BIGINT NOT NULL,
    job_id      BINARY(16) NOT NULL,
    runs        BIGINT NOT NULL,
    success     BIGINT NOT NULL,
    failed      BIGINT NOT NULL,
    timeout     BIGINT NOT NULL,
    cancelled   BIGINT NOT NULL,
    dead        BIGINT NOT NULL,
    skipped     BIGINT NOT NULL,
    retries     BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    lateness_ms BIGINT NOT NULL,
    late_runs   BIGINT NOT NULL,
    histogram   VARBINARY(2000) NOT NULL,
    fold_seq    BIGINT NOT NULL,
    PRIMARY KEY (period, start, job_id),
    KEY idx_job (job_id, period, start)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_scope_stat (
    period      VARCHAR(4) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    start       BIGINT NOT NULL,
    kind        VARCHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARBINARY(255) NOT NULL,
    runs        BIGINT NOT NULL,
    success     BIGINT NOT NULL,
    failed      BIGINT NOT NULL,
    timeout     BIGINT NOT NULL,
    cancelled   BIGINT NOT NULL,
    dead        BIGINT NOT NULL,
    skipped     BIGINT NOT NULL,
    retries     BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    lateness_ms BIGINT NOT NULL,
    late_runs   BIGINT NOT NULL,
    histogram   VARBINARY(2000) NOT NULL,
    fold_seq    BIGINT NOT NULL,
    PRIMARY KEY (period, start, kind, name),
    KEY idx_scope (kind, name, period, start)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_scope_stat;
DROP TABLE IF EXISTS scheduler_job_stat;
