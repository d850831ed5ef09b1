-- The name of a user in lower case, so that no two differ by case alone. NULL is
-- a user who was made before; such a name is compared when a user is made.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN name_key VARCHAR(255) NULL, ADD UNIQUE KEY uk_name_key (name_key);

-- +goose Down
ALTER TABLE scheduler_user DROP KEY uk_name_key, DROP COLUMN name_key;
