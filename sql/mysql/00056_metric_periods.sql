-- Time series of nodes, groups and the cluster: a row for each minute, hour and day. The id is a hash of name, period,
-- time and dimensions, so a repeated write is the same row. metric_value is what readers see.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_metrics
    ADD COLUMN period INT NOT NULL DEFAULT 0,
    ADD COLUMN dim_hash CHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN node_id VARCHAR(100) NOT NULL DEFAULT '',
    ADD COLUMN group_name VARCHAR(100) NOT NULL DEFAULT '',
    ADD COLUMN samples BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN sum_value DOUBLE NOT NULL DEFAULT 0,
    ADD COLUMN min_value DOUBLE NOT NULL DEFAULT 0,
    ADD COLUMN max_value DOUBLE NOT NULL DEFAULT 0,
    ADD KEY idx_metrics_series (period, metric_name, collect_time),
    ADD KEY idx_metrics_period (period, collect_time);

-- +goose Down
ALTER TABLE scheduler_metrics DROP KEY idx_metrics_period, DROP KEY idx_metrics_series, DROP COLUMN max_value,
    DROP COLUMN min_value, DROP COLUMN sum_value, DROP COLUMN samples, DROP COLUMN group_name, DROP COLUMN node_id,
    DROP COLUMN dim_hash, DROP COLUMN period;
