-- What others must know of a node to judge it (docs/cluster.md). SQLite has one node; the columns are there so that
-- both stores have the same.
-- +goose Up
ALTER TABLE scheduler_node_registry ADD COLUMN life_epoch INTEGER NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN lease_ms INTEGER NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN boot_id TEXT NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN store_server TEXT NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN lock_session INTEGER NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN sessions TEXT NULL;
ALTER TABLE scheduler_node_registry ADD COLUMN down_cause TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN life_epoch;
ALTER TABLE scheduler_node_registry DROP COLUMN lease_ms;
ALTER TABLE scheduler_node_registry DROP COLUMN boot_id;
ALTER TABLE scheduler_node_registry DROP COLUMN store_server;
ALTER TABLE scheduler_node_registry DROP COLUMN lock_session;
ALTER TABLE scheduler_node_registry DROP COLUMN sessions;
ALTER TABLE scheduler_node_registry DROP COLUMN down_cause;
