-- Who has not read an event yet: 1, or NULL. What an older node adds is for the rules.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_outbox
    ADD COLUMN for_rules TINYINT NULL DEFAULT 1,
    ADD COLUMN for_kafka TINYINT NULL,
    ADD KEY idx_for_rules (for_rules),
    ADD KEY idx_for_kafka (for_kafka);

-- +goose Down
ALTER TABLE scheduler_outbox
    DROP KEY idx_for_kafka, DROP KEY idx_for_rules,
    DROP COLUMN for_kafka, DROP COLUMN for_rules;
