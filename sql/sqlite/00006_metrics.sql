-- Rolled-up figures.
-- +goose Up
CREATE TABLE scheduler_metrics (
    id           TEXT NOT NULL,
    metric_name  TEXT NOT NULL,
    metric_value REAL,
    dimensions   TEXT,
    collect_time TEXT NOT NULL,
    create_time  TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX idx_metrics_name ON scheduler_metrics (metric_name, collect_time);
CREATE INDEX idx_metrics_collect_time ON scheduler_metrics (collect_time);

-- +goose Down
DROP TABLE scheduler_metrics;
