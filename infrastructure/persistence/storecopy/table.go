package storecopy

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// The bounds of one insert: a server takes packets of 16 MiB and more, and SQLite so many values of a statement.
const (
	copyRows   = 500
	copyBytes  = 4 << 20
	copyValues = 32_000
)

// reader is a store, or a transaction of one.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// table is one table of a copy.
type table struct {
	name string
	key  []string
	// where picks the rows; empty: all.
	where   string
	columns []string
	// types are MySQL's types of the columns; nil where no side is MySQL.
	types []string
	rows  int64
	// read is the sum of the rows that were copied.
	read tableSum
}

// planTable reads what a table looks like in SQLite, and the types of its columns in MySQL, where one side is that.
func planTable(ctx context.Context, lite, server reader, name string) (table, error) {
	t := table{name: name}
	var err error
	if t.columns, err = sqlvalue.Texts(ctx, lite, "SELECT name FROM pragma_table_info(?) ORDER BY cid", name); err != nil {
		return t, fmt.Errorf("read the columns of %s: %w", name, err)
	}
	if t.key, err = sqlvalue.Texts(ctx, lite, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
		name); err != nil {
		return t, fmt.Errorf("read the key of %s: %w", name, err)
	}
	if server == nil {
		return t, nil
	}
	pairs, err := sqlvalue.Texts(ctx, server,
		"SELECT CONCAT(COLUMN_NAME, ' ', DATA_TYPE) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND "+
			"TABLE_NAME = ?", name)
	if err != nil {
		return t, fmt.Errorf("read the types of %s: %w", name, err)
	}
	types := map[string]string{}
	for _, pair := range pairs {
		column, kind, _ := strings.Cut(pair, " ")
		types[column] = kind
	}
	if have := slices.Sorted(maps.Keys(types)); !slices.Equal(have, slices.Sorted(slices.Values(t.columns))) {
		return t, fmt.Errorf("%s has other columns in the database of the server: %v instead of %v", name, have, t.columns)
	}
	for _, column := range t.columns {
		t.types = append(t.types, types[column])
	}
	return t, nil
}

// tablesOf are the tables of the product in SQLite, but for those that tell about the schema.
func tablesOf(ctx context.Context, lite reader) ([]string, error) {
	names, err := sqlvalue.Texts(ctx, lite,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'scheduler|_%' ESCAPE '|' AND name NOT IN (?, "+
			"?) ORDER BY name", migrate.SchemaTable, migrate.CompatTable)
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	return names, nil
}

// count learns how many rows there are to copy.
func (t *table) count(ctx context.Context, from reader) error {
	if err := from.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name+t.where).Scan(&t.rows); err != nil {
		return fmt.Errorf("count the rows of %s: %w", t.name, err)
	}
	return nil
}

// copy inserts the rows in the order of their key, batch by batch, and adds them up. written is called after each.
func (t *table) copy(ctx context.Context, from reader, to *sql.DB, written func(done int64) error) error {
	most := min(copyRows, copyValues/len(t.columns))
	done, size := int64(0), 0
	var batch [][]any
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := t.insert(ctx, to, batch); err != nil {
			return err
		}
		done += int64(len(batch))
		batch, size = batch[:0], 0
		return written(done)
	}
	t.read = tableSum{}
	err := t.each(ctx, from, t.where+" ORDER BY "+strings.Join(t.key, ", "), func(row []any) error {
		for _, v := range row {
			size += lengthOf(v)
		}
		t.read.add(row)
		batch = append(batch, slices.Clone(row))
		if len(batch) >= most || size >= copyBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

func (t *table) insert(ctx context.Context, to *sql.DB, batch [][]any) error {
	args := make([]any, 0, len(batch)*len(t.columns))
	for _, row := range batch {
		args = append(args, row...)
	}
	mark := "(" + dialect.Marks(len(t.columns)) + ")"
	_, err := to.ExecContext(ctx, "INSERT INTO "+t.name+" ("+strings.Join(t.columns,
		", ")+") VALUES "+strings.Repeat(mark+",", len(batch)-1)+mark, args...)
	return err
}

// each calls fn with the rows, as both sides hold them: nil, a text, bytes, or a number where no side is MySQL.
// The row is fn's only until it returns.
func (t *table) each(ctx context.Context, db reader, rest string, fn func(row []any) error) error {
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+rest)
	if err != nil {
		return err
	}
	defer rows.Close()
	row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i := range row {
			if row[i], err = t.value(i, row[i]); err != nil {
				return fmt.Errorf("column %s: %w", t.columns[i], err)
			}
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// value is that of a column in the form that both sides have.
func (t *table) value(column int, v any) (any, error) {
	if t.types != nil {
		return asStored(v, t.types[column])
	}
	if value, ok := v.([]byte); ok {
		return append([]byte{}, value...), nil // empty bytes are read as nil, which would be NULL
	}
	return v, nil
}

// asStored is a value of either store in the one form that both are compared
// in, which is also the form that the target takes.
func asStored(v any, kind string) (any, error) {
	switch value := v.(type) {
	case nil:
		return nil, nil
	case int64:
		return strconv.FormatInt(value, 10), nil
	case float64:
		if kind == "double" || kind == "float" {
			return strconv.FormatFloat(value, 'g', -1, 64), nil
		}
		return strconv.FormatFloat(value, 'f', 4, 64), nil // DECIMAL(20,4)
	case string:
		return asText(value, kind)
	case []byte:
		if strings.HasSuffix(kind, "blob") || strings.HasSuffix(kind, "binary") {
			return append([]byte{}, value...), nil // SQLite reads empty bytes as nil, which MySQL would take for NULL
		}
		return asText(string(value), kind)
	}
	return nil, fmt.Errorf("a %T cannot be copied", v)
}

func asText(value, kind string) (any, error) {
	if kind != "datetime" {
		return value, nil
	}
	var at sqlvalue.DBTime
	if err := at.Scan(value); err != nil {
		return nil, err
	}
	return sqlvalue.TimeText(at.Time()), nil
}

func lengthOf(v any) int {
	switch value := v.(type) {
	case string:
		return len(value)
	case []byte:
		return len(value)
	}
	return 1
}
