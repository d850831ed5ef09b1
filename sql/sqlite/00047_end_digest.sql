-- The ends of executions, packed, one row a transaction; and the batch of them that is being added up. Ids are 16 bytes,
-- moments are milliseconds since 1970; scopes is 1 once the rows of
-- scopes have the batch.
-- +goose Up
CREATE TABLE scheduler_end_digest (
    id   BLOB NOT NULL,
    time INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;
CREATE TABLE scheduler_fold (
    id           INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    ids          BLOB NOT NULL,
    scopes       INTEGER NOT NULL,
    folded_until INTEGER NOT NULL,
    PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE scheduler_fold;
DROP TABLE scheduler_end_digest;
