-- Values that definitions name; the key that seals them is not in the database.
-- +goose Up
CREATE TABLE scheduler_secret (
    name        TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    key_id      TEXT NOT NULL,
    sealed      BLOB NOT NULL,
    version     INTEGER NOT NULL,
    create_time TEXT NOT NULL,
    update_time TEXT NOT NULL,
    PRIMARY KEY (name)
);

-- +goose Down
DROP TABLE scheduler_secret;
