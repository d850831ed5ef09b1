-- Which ends of executions may lack a digest, and prints of 8 bytes of those that were added up meanwhile, by batch:
-- nodes of the former release write no digests. A row of the fold that exists lacks none.
-- +goose Up
ALTER TABLE scheduler_fold ADD COLUMN whole INTEGER NOT NULL DEFAULT 1;
ALTER TABLE scheduler_fold ADD COLUMN lacking_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scheduler_fold ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
CREATE TABLE scheduler_noted_end (
    seq    INTEGER NOT NULL,
    prints BLOB NOT NULL,
    PRIMARY KEY (seq)
);

-- +goose Down
DROP TABLE scheduler_noted_end;
ALTER TABLE scheduler_fold DROP COLUMN noted;
ALTER TABLE scheduler_fold DROP COLUMN lacking_since;
ALTER TABLE scheduler_fold DROP COLUMN whole;
