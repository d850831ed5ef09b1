-- What a node can: its slots for commands and its handlers, as of published_epoch.
-- +goose Up
ALTER TABLE scheduler_node_registry ADD COLUMN command_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_node_registry ADD COLUMN command_running INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_node_registry ADD COLUMN handlers TEXT;
ALTER TABLE scheduler_node_registry ADD COLUMN handlers_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE scheduler_node_registry ADD COLUMN published_epoch INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN published_epoch;
ALTER TABLE scheduler_node_registry DROP COLUMN handlers_hash;
ALTER TABLE scheduler_node_registry DROP COLUMN handlers;
ALTER TABLE scheduler_node_registry DROP COLUMN command_running;
ALTER TABLE scheduler_node_registry DROP COLUMN command_slots;
