-- The nodes; the heartbeat is the lease. A handful of rows, so it has no index but the key.
-- +goose Up
CREATE TABLE scheduler_node_registry (
    id             TEXT NOT NULL,
    node_ip        TEXT NOT NULL,
    node_port      INTEGER NOT NULL,
    status         TEXT NOT NULL,
    last_heartbeat TEXT,
    create_time    TEXT NOT NULL,
    update_time    TEXT NOT NULL,
    epoch          INTEGER NOT NULL DEFAULT 0,
    roles          TEXT NOT NULL DEFAULT '',
    labels         TEXT,
    version        TEXT NOT NULL DEFAULT '',
    slots          INTEGER NOT NULL DEFAULT 0,
    running        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE scheduler_node_registry;
