-- Which programs the schema serves, in one row: those that know at least this version.
-- +goose Up
CREATE TABLE scheduler_schema_compat (
    id          INTEGER NOT NULL,
    min_version INTEGER NOT NULL,
    PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE scheduler_schema_compat;
