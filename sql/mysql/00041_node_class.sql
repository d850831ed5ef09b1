-- Room for the longest key of a node's queue, and what a node can: its slots for commands and its handlers, as of published_epoch.
-- Widening costs no rebuild. The only statement that cannot run twice stands last.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_job_execution MODIFY COLUMN claim_key VARCHAR(96) CHARACTER SET ascii COLLATE ascii_bin NULL, ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE scheduler_node_registry
    ADD COLUMN command_slots INT NOT NULL DEFAULT 0,
    ADD COLUMN command_running INT NOT NULL DEFAULT 0,
    ADD COLUMN handlers MEDIUMTEXT NULL,
    ADD COLUMN handlers_hash VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN published_epoch BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN command_slots, DROP COLUMN command_running, DROP COLUMN handlers, DROP COLUMN handlers_hash, DROP COLUMN published_epoch;
