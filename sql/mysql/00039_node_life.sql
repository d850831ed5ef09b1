-- What others must know of a node to judge it (docs/cluster.md): how long its beats are good for, which life of its
-- process it is, and its sessions in the store. All hold for the epoch life_epoch alone: an older program, which does
-- not know these columns, leaves them as they are.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_node_registry
    ADD COLUMN life_epoch BIGINT NULL,
    ADD COLUMN lease_ms INT NULL,
    ADD COLUMN boot_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN store_server VARCHAR(150) NULL,
    ADD COLUMN lock_session BIGINT NULL,
    ADD COLUMN sessions TEXT NULL,
    ADD COLUMN down_cause VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN life_epoch, DROP COLUMN lease_ms, DROP COLUMN boot_id, DROP COLUMN store_server,
    DROP COLUMN lock_session, DROP COLUMN sessions, DROP COLUMN down_cause;
