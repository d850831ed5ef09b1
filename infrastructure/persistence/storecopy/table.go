package storecopy

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// The bounds of one insert of a copy; a server takes packets of 16 MiB and more.
const (
	copyRows  = 500
	copyBytes = 4 << 20
)

// table is one table of a copy.
type table struct {
	name    string
	key     []string
	columns []string
	// types are the target's types of the columns.
	types []string
	rows  int64
}

// planTable reads what a table looks like on both sides.
func planTable(ctx context.Context, from, to *sql.DB, name string) (table, error) {
	t := table{name: name}
	var err error
	if t.columns, err = sqlvalue.Texts(ctx, from, "SELECT name FROM pragma_table_info(?) ORDER BY cid", name); err != nil {
		return t, fmt.Errorf("read the columns of %s: %w", name, err)
	}
	if t.key, err = sqlvalue.Texts(ctx, from, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
		name); err != nil {
		return t, fmt.Errorf("read the key of %s: %w", name, err)
	}
	pairs, err := sqlvalue.Texts(ctx, to,
		"SELECT CONCAT(COLUMN_NAME, ' ', DATA_TYPE) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND "+
			"TABLE_NAME = ?", name)
	if err != nil {
		return t, fmt.Errorf("read the columns of %s in the target: %w", name, err)
	}
	types := map[string]string{}
	for _, pair := range pairs {
		column, kind, _ := strings.Cut(pair, " ")
		types[column] = kind
	}
	if have := slices.Sorted(maps.Keys(types)); !slices.Equal(have, slices.Sorted(slices.Values(t.columns))) {
		return t, fmt.Errorf("%s has other columns in the store to copy into: %v instead of %v", name, have, t.columns)
	}
	for _, column := range t.columns {
		t.types = append(t.types, types[column])
	}
	if err := from.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name).Scan(&t.rows); err != nil {
		return t, fmt.Errorf("count the rows of %s: %w", name, err)
	}
	return t, nil
}

// copy inserts the rows in the order of their key, batch by batch.
func (t *table) copy(ctx context.Context, from, to *sql.DB, progress func(Progress)) error {
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
		progress(Progress{Table: t.name, Done: done, Rows: t.rows})
		return nil
	}
	err := t.each(ctx, from, " ORDER BY "+strings.Join(t.key, ", "), func(row []any) error {
		for _, v := range row {
			size += lengthOf(v)
		}
		batch = append(batch, slices.Clone(row))
		if len(batch) >= copyRows || size >= copyBytes {
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

// each calls fn with every row, as the target holds it: nil, a text, or bytes.
// The row is fn's only until it returns.
func (t *table) each(ctx context.Context, db *sql.DB, order string, fn func(row []any) error) error {
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(t.columns, ", ")+" FROM "+t.name+order)
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
			if row[i], err = asStored(row[i], t.types[i]); err != nil {
				return fmt.Errorf("column %s: %w", t.columns[i], err)
			}
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return rows.Err()
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
