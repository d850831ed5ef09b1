-- Whether somebody else knows the password of a user, who made it up or set it.
-- +goose Up
ALTER TABLE scheduler_user ADD COLUMN must_change_password INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_user DROP COLUMN must_change_password;
