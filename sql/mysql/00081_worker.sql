-- Workers (docs/workers): their groups and tokens; each worker with its life and its lease; and the lists of handlers
-- that they offer, each once. job_groups is a list in JSON. former_epoch is 0 where no run is owed an end.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_worker_group (
    name        VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_groups  MEDIUMTEXT NOT NULL,
    secrets     TINYINT NOT NULL,
    commands    TINYINT NOT NULL,
    declares    TINYINT NOT NULL,
    max_workers INT NOT NULL,
    version     INT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    update_time DATETIME(3) NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_worker_token (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    worker_group VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name         VARCHAR(100) NOT NULL,
    token_hash   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    created_by   VARCHAR(255) NOT NULL,
    expires_at   DATETIME(3) NOT NULL,
    last_used_at DATETIME(3) NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY uk_worker_token (token_hash),
    KEY idx_worker_token_group (worker_group)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_worker (
    id              VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    worker_group    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    instance        VARCHAR(100) NOT NULL,
    boot_id         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    epoch           BIGINT NOT NULL,
    status          VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    slots           INT NOT NULL,
    running         INT NOT NULL,
    command_slots   INT NOT NULL,
    command_running INT NOT NULL,
    weight          INT NOT NULL,
    labels          MEDIUMTEXT NOT NULL,
    handlers_hash   VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sdk             VARCHAR(100) NOT NULL,
    runtime         VARCHAR(100) NOT NULL,
    version         VARCHAR(100) NOT NULL,
    host            VARCHAR(100) NOT NULL,
    pid             BIGINT NOT NULL,
    gateway         VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    beat_ms         INT NOT NULL,
    lease_ms        INT NOT NULL,
    last_beat       DATETIME(3) NOT NULL,
    former_epoch    BIGINT NOT NULL,
    former_until    DATETIME(3) NULL,
    create_time     DATETIME(3) NOT NULL,
    begin_time      DATETIME(3) NOT NULL,
    update_time     DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY idx_worker_group (worker_group)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_worker_handlers (
    hash        VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers    MEDIUMTEXT NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (hash)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_worker_handlers;
DROP TABLE IF EXISTS scheduler_worker;
DROP TABLE IF EXISTS scheduler_worker_token;
DROP TABLE IF EXISTS scheduler_worker_group;
