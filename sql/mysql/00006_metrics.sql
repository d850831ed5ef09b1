-- Rolled-up figures.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_metrics (
    id           VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    metric_name  VARCHAR(100) NOT NULL,
    metric_value DECIMAL(20,4) NULL,
    dimensions   TEXT NULL,
    collect_time DATETIME(3) NOT NULL,
    create_time  DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY idx_metric (metric_name, collect_time),
    KEY idx_collect_time (collect_time)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_metrics;
