-- The ends of executions, packed, one row a transaction; and the batch of them that is being added up. Ids are 16 bytes,
-- moments are milliseconds since 1970; scopes is 1 once the rows of
-- scopes have the batch. Both statements do no harm when they run again.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_end_digest (
    id   BINARY(16) NOT NULL,
    time BIGINT NOT NULL,
    ends INT NOT NULL,
    data MEDIUMBLOB NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS scheduler_fold (
    id           INT NOT NULL,
    seq          BIGINT NOT NULL,
    ids          MEDIUMBLOB NOT NULL,
    scopes       INT NOT NULL,
    folded_until BIGINT NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS scheduler_fold;
DROP TABLE IF EXISTS scheduler_end_digest;
