-- What an alert is about, and how far its episode has come (docs/monitoring-architecture.md). open_key is the fingerprint
-- while the episode holds it, else NULL: so there is one open episode of a fingerprint.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_alert
    ADD COLUMN fingerprint VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN open_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN rule_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN rule_version INT NOT NULL DEFAULT 0,
    ADD COLUMN group_name VARCHAR(100) NOT NULL DEFAULT '',
    ADD COLUMN job_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN last_execution_id VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN node_id VARCHAR(100) NULL,
    ADD COLUMN labels TEXT NULL,
    ADD COLUMN details TEXT NULL,
    ADD COLUMN evidence_count INT NOT NULL DEFAULT 0,
    ADD COLUMN pending_since DATETIME(3) NULL,
    ADD COLUMN start_time DATETIME(3) NULL,
    ADD COLUMN last_time DATETIME(3) NULL,
    ADD COLUMN end_time DATETIME(3) NULL,
    ADD COLUMN clear_since DATETIME(3) NULL,
    ADD COLUMN evidence_until DATETIME(3) NULL,
    ADD COLUMN acked_by VARCHAR(255) NULL,
    ADD COLUMN ack_time DATETIME(3) NULL,
    ADD COLUMN resolved_by VARCHAR(255) NULL,
    ADD COLUMN resolution VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN seq BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN notify_due DATETIME(3) NULL,
    ADD UNIQUE KEY uk_alert_open (open_key),
    ADD KEY idx_alert_fingerprint (fingerprint, id),
    ADD KEY idx_alert_job (job_id, id),
    ADD KEY idx_alert_notify (notify_due);

-- +goose Down
ALTER TABLE scheduler_alert
    DROP KEY uk_alert_open, DROP KEY idx_alert_fingerprint, DROP KEY idx_alert_job, DROP KEY idx_alert_notify,
    DROP COLUMN fingerprint, DROP COLUMN open_key, DROP COLUMN rule_id, DROP COLUMN rule_version, DROP COLUMN group_name,
    DROP COLUMN job_id, DROP COLUMN execution_id, DROP COLUMN last_execution_id, DROP COLUMN node_id, DROP COLUMN labels,
    DROP COLUMN details, DROP COLUMN evidence_count, DROP COLUMN pending_since, DROP COLUMN start_time,
    DROP COLUMN last_time, DROP COLUMN end_time, DROP COLUMN clear_since, DROP COLUMN evidence_until, DROP COLUMN acked_by,
    DROP COLUMN ack_time, DROP COLUMN resolved_by, DROP COLUMN resolution, DROP COLUMN seq, DROP COLUMN notify_due;
