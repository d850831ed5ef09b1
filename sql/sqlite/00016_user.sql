-- People who may sign in.
-- +goose Up
CREATE TABLE scheduler_user (
    id            TEXT NOT NULL,
    name          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    role          TEXT NOT NULL,
    create_time   TEXT NOT NULL,
    update_time   TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX uk_user_name ON scheduler_user (name);

-- +goose Down
DROP TABLE scheduler_user;
