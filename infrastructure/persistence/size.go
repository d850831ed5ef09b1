package persistence

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// TableSize is what a table takes of the disk.
type TableSize struct {
	Table string `json:"table"`
	// Rows are counted on SQLite, and estimated by a server.
	Rows int64 `json:"rows"`
	// Bytes are those of the rows and of the indexes.
	Bytes int64 `json:"bytes"`
}

// Sizes are those of the tables, the largest first. On SQLite this reads every page of the file.
func (s *Store) Sizes(ctx context.Context) ([]TableSize, error) {
	c := s.aside.Pool
	query := "SELECT m.tbl_name, 0, SUM(d.pgsize) FROM dbstat d JOIN sqlite_master m ON m.name = d.name " +
		"WHERE d.aggregate = 1 AND m.tbl_name LIKE 'scheduler|_%' ESCAPE '|' GROUP BY m.tbl_name ORDER BY 3 DESC, 1"
	if !c.Dialect.IsSQLite() {
		query = "SELECT TABLE_NAME, COALESCE(TABLE_ROWS, 0), COALESCE(DATA_LENGTH + INDEX_LENGTH, 0) " +
			"FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'scheduler|_%' ESCAPE '|' " +
			"ORDER BY 3 DESC, 1"
	}
	sizes, err := sqldb.Collect(ctx, c, "store.size", query, nil, func(rows *sql.Rows) (t TableSize, err error) {
		return t, rows.Scan(&t.Table, &t.Rows, &t.Bytes)
	})
	if err != nil || !c.Dialect.IsSQLite() {
		return sizes, err
	}
	for i := range sizes {
		n, err := c.Number(ctx, "store.rows", "SELECT COUNT(*) FROM "+sizes[i].Table)
		if err != nil {
			return nil, err
		}
		sizes[i].Rows = int64(n)
	}
	return sizes, nil
}
