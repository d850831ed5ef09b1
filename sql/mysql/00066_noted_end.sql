-- Which ends of executions may lack a digest, and prints of 8 bytes of those that were added up meanwhile, by batch:
-- nodes of the former release write no digests. A row of the fold that exists lacks none.
-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduler_noted_end (
    seq    BIGINT NOT NULL,
    prints MEDIUMBLOB NOT NULL,
    PRIMARY KEY (seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
ALTER TABLE scheduler_fold
    ADD COLUMN whole INT NOT NULL DEFAULT 1,
    ADD COLUMN lacking_since BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN noted BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE scheduler_fold DROP COLUMN noted, DROP COLUMN lacking_since, DROP COLUMN whole;
DROP TABLE IF EXISTS scheduler_noted_end;
