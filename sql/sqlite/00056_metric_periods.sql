-- Time series of nodes, groups and the cluster: a row for each minute, hour and day. The id is a hash of name, period,
-- time and dimensions, so a repeated write is the same row. metric_value is what readers see.
-- +goose Up
ALTER TABLE scheduler_metrics ADD COLUMN period INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_metrics ADD COLUMN dim_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE scheduler_metrics ADD COLUMN node_id TEXT NOT NULL DEFAULT '';
ALTER TABLE scheduler_metrics ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
ALTER TABLE scheduler_metrics ADD COLUMN samples INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_metrics ADD COLUMN sum_value REAL NOT NULL DEFAULT 0;
ALTER TABLE scheduler_metrics ADD COLUMN min_value REAL NOT NULL DEFAULT 0;
ALTER TABLE scheduler_metrics ADD COLUMN max_value REAL NOT NULL DEFAULT 0;
CREATE INDEX idx_metrics_series ON scheduler_metrics (period, metric_name, collect_time);
CREATE INDEX idx_metrics_period ON scheduler_metrics (period, collect_time);

-- +goose Down
DROP INDEX idx_metrics_period;
DROP INDEX idx_metrics_series;
ALTER TABLE scheduler_metrics DROP COLUMN max_value;
ALTER TABLE scheduler_metrics DROP COLUMN min_value;
ALTER TABLE scheduler_metrics DROP COLUMN sum_value;
ALTER TABLE scheduler_metrics DROP COLUMN samples;
ALTER TABLE scheduler_metrics DROP COLUMN group_name;
ALTER TABLE scheduler_metrics DROP COLUMN node_id;
ALTER TABLE scheduler_metrics DROP COLUMN dim_hash;
ALTER TABLE scheduler_metrics DROP COLUMN period;
