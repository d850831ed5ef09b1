-- How far a former attempt came, and with which code its command ended.
-- +goose Up
ALTER TABLE scheduler_execution_attempt ADD COLUMN progress INTEGER;
ALTER TABLE scheduler_execution_attempt ADD COLUMN exit_code INTEGER;

-- +goose Down
ALTER TABLE scheduler_execution_attempt DROP COLUMN progress;
ALTER TABLE scheduler_execution_attempt DROP COLUMN exit_code;
