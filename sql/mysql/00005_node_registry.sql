-- The nodes; the heartbeat is the lease. A handful of rows, so it has no index but the key.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_node_registry (
    id             VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    node_ip        VARCHAR(50) NOT NULL,
    node_port      INT NOT NULL,
    status         VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    last_heartbeat DATETIME(3) NULL,
    create_time    DATETIME(3) NOT NULL,
    update_time    DATETIME(3) NOT NULL,
    epoch          BIGINT NOT NULL DEFAULT 0,
    roles          VARCHAR(255) NOT NULL DEFAULT '',
    labels         MEDIUMTEXT NULL,
    version        VARCHAR(100) NOT NULL DEFAULT '',
    slots          INT NOT NULL DEFAULT 0,
    running        INT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_node_registry;
