-- What of a node works less well than it should, as a JSON object of reasons by parts; NULL: nothing. The node writes
-- it when it changes (docs/alerts.md, DEGRADED).
-- +goose Up
ALTER TABLE scheduler_node_registry ADD COLUMN trouble TEXT NULL;

-- +goose Down
ALTER TABLE scheduler_node_registry DROP COLUMN trouble;
