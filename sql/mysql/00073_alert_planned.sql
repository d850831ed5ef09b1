-- An alert was planned while it fired: 1; NULL is not said. Where nobody was told then, nobody is told that it is over.
-- The column is added at the end of the row, without a rebuild of the table.
-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduler_alert ADD COLUMN planned TINYINT NULL;

-- +goose Down
ALTER TABLE scheduler_alert DROP COLUMN planned;
