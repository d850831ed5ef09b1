-- Columns that hold what validation takes, and what is set aside because the store refuses it: an event, a look at a
-- level, a deadline, a plan of messages, or a digest, which lies whole in data. It is kept for a week.
-- The changes of columns rebuild scheduler_alert, scheduler_notification and scheduler_scope_stat; meanwhile writes to
-- these wait, so that alerts and statistics come later. Fires and runs do not touch them. docs/operations.md says how
-- long that takes. All statements do no harm when they run again.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_set_aside (
    kind   VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id     VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job    VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    rule   VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NULL,
    state  VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    reason VARCHAR(1000) NOT NULL,
    time   DATETIME(3) NOT NULL,
    data   MEDIUMBLOB NULL,
    PRIMARY KEY (kind, id),
    KEY idx_set_aside_time (time)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
ALTER TABLE scheduler_alert MODIFY COLUMN labels MEDIUMTEXT NULL, MODIFY COLUMN details MEDIUMTEXT NULL;
ALTER TABLE scheduler_notification MODIFY COLUMN recipients MEDIUMTEXT NULL;
ALTER TABLE scheduler_scope_stat MODIFY COLUMN name VARBINARY(400) NOT NULL;

-- +goose Down
DELETE FROM scheduler_scope_stat WHERE LENGTH(name) > 255;
ALTER TABLE scheduler_scope_stat MODIFY COLUMN name VARBINARY(255) NOT NULL;
UPDATE scheduler_notification SET recipients = NULL WHERE LENGTH(recipients) > 65535;
ALTER TABLE scheduler_notification MODIFY COLUMN recipients TEXT NULL;
UPDATE scheduler_alert SET labels = IF(LENGTH(labels) > 65535, NULL, labels), details = IF(LENGTH(details) > 65535, NULL,
    details) WHERE LENGTH(labels) > 65535 OR LENGTH(details) > 65535;
ALTER TABLE scheduler_alert MODIFY COLUMN labels TEXT NULL, MODIFY COLUMN details TEXT NULL;
DROP TABLE IF EXISTS scheduler_set_aside;
