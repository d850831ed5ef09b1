package sqlvalue

import (
	"context"
	"database/sql"
	"reflect"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Querier is a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ReadAll runs a query and reads every row, with the driver's errors as they are.
func ReadAll[T any](ctx context.Context, c Querier, query string, args []any,
	scan func(*sql.Rows) (T, error),
) ([]T, error) {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Texts reads the one column of a query.
func Texts(ctx context.Context, c Querier, query string, args ...any) ([]string, error) {
	return ReadAll(ctx, c, query, args, ScanText)
}

// ScanText reads a row of one text.
func ScanText(rows *sql.Rows) (s string, err error) { err = rows.Scan(&s); return s, err }

// ScanInt reads a row of one number.
func ScanInt(rows *sql.Rows) (n int64, err error) { err = rows.Scan(&n); return n, err }

// ScanRow reads a row. Columns that hold what their destination cannot take are
// left empty and returned by name, so that one value does not cost the other rows
// of a read (engine rule 10). The error is one of the program's or of the store.
func ScanRow(rows *sql.Rows, dest ...any) (unread []entity.Unread, err error) {
	if err = rows.Scan(dest...); err == nil {
		return nil, nil
	}
	names, e := rows.Columns()
	if e != nil || len(names) != len(dest) {
		return nil, err
	}
	for i, name := range names {
		alone := make([]any, len(dest))
		for j := range alone {
			alone[j] = &ignored{}
		}
		alone[i] = dest[i]
		if e := rows.Scan(alone...); e != nil {
			reflect.ValueOf(dest[i]).Elem().SetZero()
			unread = append(unread, entity.Unread{Field: name, Why: e.Error()})
		}
	}
	if len(unread) == 0 || len(unread) == len(dest) {
		return nil, err // it is not the values that are to blame
	}
	return unread, nil
}

// ignored takes any value.
type ignored struct{}

// Scan implements sql.Scanner.
func (*ignored) Scan(any) error { return nil }
