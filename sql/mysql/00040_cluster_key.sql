-- The key by which nodes sign what they say to each other, in one row; key_id names the key that sealed it and is empty
-- where the cluster has none.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_cluster_key (
    id          VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    key_id      VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sealed      VARBINARY(500) NOT NULL,
    create_time DATETIME(3) NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_cluster_key;
