-- Which rules do nothing for some time, although they are enabled: what they cost, in steps, and why they were suspended.
-- +goose Up
CREATE TABLE scheduler_rule_state (
    rule  TEXT NOT NULL,
    until TEXT NOT NULL,
    cost  INTEGER NOT NULL,
    why   TEXT NOT NULL,
    PRIMARY KEY (rule)
);

-- +goose Down
DROP TABLE scheduler_rule_state;
