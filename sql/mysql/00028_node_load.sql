-- What a node carries, and how far its clock is off the store's.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_node_registry
    ADD COLUMN weight INT NOT NULL DEFAULT 1,
    ADD COLUMN cpu DOUBLE NOT NULL DEFAULT 0,
    ADD COLUMN memory BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN clock_offset BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN weight, DROP COLUMN cpu, DROP COLUMN memory, DROP COLUMN clock_offset;
