-- Runs. What each index costs is written in docs/adr/0001.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_job_execution (
    id               VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    node_id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    shard_id         VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    status           VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'WAITING',
    start_time       DATETIME(3) NULL,
    end_time         DATETIME(3) NULL,
    duration         BIGINT NULL,
    retry_count      INT NOT NULL DEFAULT 0,
    error_message    TEXT NULL,
    result           TEXT NULL,
    create_time      DATETIME(3) NOT NULL,
    update_time      DATETIME(3) NOT NULL,
    fire_key         VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    scheduled_time   DATETIME(3) NULL,
    due_time         DATETIME(3) NULL,
    trigger_type     VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_version      INT NOT NULL DEFAULT 0,
    priority         TINYINT NOT NULL DEFAULT 5,
    params           MEDIUMTEXT NULL,
    reason           VARCHAR(30) CHARACTER SET ascii COLLATE ascii_bin NULL,
    epoch            BIGINT NOT NULL DEFAULT 0,
    token            BIGINT NOT NULL DEFAULT 0,
    job_fence        BIGINT NULL,
    attempt          INT NOT NULL DEFAULT 0,
    node_losses      INT NULL,
    claim_key        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    start_deadline   DATETIME(3) NULL,
    cancel_requested TINYINT(1) NULL,
    progress         INT NULL,
    checkpoint       MEDIUMTEXT NULL,
    retry_of         VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    root_id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    skip_from        DATETIME(3) NULL,
    skip_to          DATETIME(3) NULL,
    skip_count       INT NULL,
    skip_at_least    TINYINT(1) NULL,
    PRIMARY KEY (id),
    KEY idx_job_id (job_id),
    KEY idx_claim (claim_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_job_execution;
