-- What a store knows of itself, in one row that is there once somebody writes it: whether its nodes work or stand by,
-- and the greatest time that its own clock has shown. SQLite has one node, which names no database;
-- the column is there so that both stores have the same.
-- +goose Up
CREATE TABLE scheduler_store_state (
    id         INTEGER NOT NULL,
    mode       TEXT NOT NULL DEFAULT 'ACTIVE',
    reason     TEXT NOT NULL DEFAULT '',
    changed_by TEXT NOT NULL DEFAULT '',
    since      TEXT NULL,
    mark       TEXT NULL,
    PRIMARY KEY (id)
);
ALTER TABLE scheduler_node_registry ADD COLUMN store_database TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN store_database;
DROP TABLE scheduler_store_state;
