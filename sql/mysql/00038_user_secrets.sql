-- The right to make secrets for one's groups.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN secrets TINYINT(1) NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_user DROP COLUMN secrets;
