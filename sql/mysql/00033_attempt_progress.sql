-- How far a former attempt came, and with which code its command ended.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_execution_attempt ADD COLUMN progress INT NULL, ADD COLUMN exit_code INT NULL;

-- +goose Down
ALTER TABLE scheduler_execution_attempt DROP COLUMN progress, DROP COLUMN exit_code;
