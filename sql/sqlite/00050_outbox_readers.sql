-- Who has not read an event yet: 1, or NULL. What an older node adds is for the rules.
-- +goose Up
ALTER TABLE scheduler_outbox ADD COLUMN for_rules INTEGER DEFAULT 1;
ALTER TABLE scheduler_outbox ADD COLUMN for_kafka INTEGER;
CREATE INDEX idx_outbox_for_rules ON scheduler_outbox (for_rules) WHERE for_rules IS NOT NULL;
CREATE INDEX idx_outbox_for_kafka ON scheduler_outbox (for_kafka) WHERE for_kafka IS NOT NULL;

-- +goose Down
DROP INDEX idx_outbox_for_kafka;
DROP INDEX idx_outbox_for_rules;
ALTER TABLE scheduler_outbox DROP COLUMN for_kafka;
ALTER TABLE scheduler_outbox DROP COLUMN for_rules;
