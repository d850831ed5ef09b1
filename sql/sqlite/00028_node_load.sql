-- What a node carries, and how far its clock is off the store's.
-- +goose Up
ALTER TABLE scheduler_node_registry ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
ALTER TABLE scheduler_node_registry ADD COLUMN cpu REAL NOT NULL DEFAULT 0;
ALTER TABLE scheduler_node_registry ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_node_registry ADD COLUMN clock_offset INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN weight;
ALTER TABLE scheduler_node_registry DROP COLUMN cpu;
ALTER TABLE scheduler_node_registry DROP COLUMN memory;
ALTER TABLE scheduler_node_registry DROP COLUMN clock_offset;
