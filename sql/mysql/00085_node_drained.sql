-- Whether a node that is DOWN was DRAINING when it was declared so: the same process drains when it comes back. Its own
-- memory would forget a drain or a resume that came while it could not look. A program without this column leaves it.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_node_registry ADD COLUMN drained TINYINT(1) NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN drained;
