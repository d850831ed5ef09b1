-- The key by which nodes sign what they say to each other, in one row; key_id names the key that sealed it and is empty
-- where the cluster has none.
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_cluster_key (
    id          TEXT NOT NULL,
    key_id      TEXT NOT NULL,
    sealed      BLOB NOT NULL,
    create_time TEXT NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE IF EXISTS scheduler_cluster_key;
