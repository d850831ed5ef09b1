-- The name of a user in lower case, so that no two differ by case alone. NULL is
-- a user who was made before; such a name is compared when a user is made.
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN name_key TEXT NULL;
CREATE UNIQUE INDEX uk_user_name_key ON scheduler_user (name_key);

-- +goose Down
DROP INDEX uk_user_name_key;
ALTER TABLE scheduler_user DROP COLUMN name_key;
