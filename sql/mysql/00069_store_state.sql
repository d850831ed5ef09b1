-- What a store knows of itself, in one row that is there once somebody writes it: whether its nodes work or stand by,
-- and the greatest time that its own clock has shown. And, of each node, the database that its
-- sessions are in: a copy beside the original has the same server.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_store_state (
    id         INTEGER NOT NULL,
    mode       VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'ACTIVE',
    reason     VARCHAR(500) NOT NULL DEFAULT '',
    changed_by VARCHAR(200) NOT NULL DEFAULT '',
    since      DATETIME(3) NULL,
    mark       DATETIME(3) NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
ALTER TABLE scheduler_node_registry ADD COLUMN store_database VARCHAR(150) NULL;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN store_database;
DROP TABLE IF EXISTS scheduler_store_state;
