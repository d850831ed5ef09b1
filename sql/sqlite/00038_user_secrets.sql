-- The right to make secrets for one's groups.
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN secrets INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_user DROP COLUMN secrets;
