package execution

import (
	"context"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// bulkInsert holds the rows of an INSERT, value by value.
type bulkInsert struct {
	columns []string
	rows    [][]any
}

func newBulkInsert(rows []*entity.Execution) *bulkInsert {
	optional := uses(rows)
	m := &bulkInsert{columns: strings.Split(coreColumns, ", "), rows: make([][]any, len(rows))}
	for _, i := range optional {
		m.columns = append(m.columns, optionalColumns[i].name)
	}
	values := make([]any, 0, len(rows)*len(m.columns))
	for i, e := range rows {
		from := len(values)
		values = appendCore(values, e)
		for _, o := range optional {
			values = append(values, optionalColumns[o].value(e))
		}
		m.rows[i] = values[from:len(values):len(values)]
	}
	return m
}

// shared tells the columns that hold one value in all rows from the others.
func (m *bulkInsert) shared() (same, own []int) {
	for col := range m.columns {
		equal := true
		for _, row := range m.rows[1:] {
			if row[col] != m.rows[0][col] {
				equal = false
				break
			}
		}
		if equal {
			same = append(same, col)
		} else {
			own = append(own, col)
		}
	}
	return same, own
}

// insertSQLite binds what is the same in all rows once for each statement: in
// this driver an argument costs as much as the column it fills. OR FAIL spares
// the journal that undoes half a statement; the transaction is undone anyway.
func (m *bulkInsert) insertSQLite(ctx context.Context, c *sqldb.Conn) error {
	same, own := m.shared()
	if len(m.rows) == 1 {
		same, own = nil, append(same, own...)
	}
	var head, mark strings.Builder
	head.WriteString("INSERT OR FAIL INTO scheduler_job_execution (")
	mark.WriteByte('(')
	for i, col := range append(append(make([]int, 0, len(m.columns)), same...), own...) {
		if i > 0 {
			head.WriteString(", ")
			mark.WriteByte(',')
		}
		head.WriteString(m.columns[col])
		mark.WriteByte('?')
		if i < len(same) {
			mark.WriteString(strconv.Itoa(i + 1)) // numbered: every row names the same argument
		}
	}
	head.WriteString(") VALUES ")
	mark.WriteByte(')')
	args := make([]any, 0, len(same)+c.Dialect.InsertRows*len(own))
	for rows := m.rows; len(rows) > 0; {
		n := min(len(rows), c.Dialect.InsertRows)
		if n < c.Dialect.InsertRows {
			n = 1
		}
		args = args[:0]
		for _, col := range same {
			args = append(args, rows[0][col])
		}
		for _, row := range rows[:n] {
			for _, col := range own {
				args = append(args, row[col])
			}
		}
		query := head.String() + strings.Repeat(mark.String()+",", n-1) + mark.String()
		if _, err := c.Exec(ctx, "execution.insert", query, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

const insertRuns = "INSERT INTO scheduler_job_execution ("

// plain is the INSERT with every value of every row.
func (m *bulkInsert) plain() (string, []any) {
	args := make([]any, 0, len(m.rows)*len(m.columns))
	for _, row := range m.rows {
		args = append(args, row...)
	}
	mark := "(" + dialect.Marks(len(m.columns)) + ")"
	return insertRuns + strings.Join(m.columns, ", ") + ") VALUES " + strings.Repeat(mark+",", len(m.rows)-1) + mark, args
}

// selected is the INSERT from a list of what differs, beside which stands once
// what all rows share: the server parses a third of the text.
func (m *bulkInsert) selected() (string, []any) {
	same, own := m.shared()
	if len(own) == 0 {
		return m.plain()
	}
	names, from := make([]string, 0, len(m.columns)), make([]string, 0, len(m.columns))
	args := make([]any, 0, len(same)+len(m.rows)*len(own))
	for _, col := range same {
		names, from, args = append(names, m.columns[col]), append(from, "?"), append(args, m.rows[0][col])
	}
	list := make([]string, len(own))
	for i, col := range own {
		list[i] = "c" + strconv.Itoa(i)
		names, from = append(names, m.columns[col]), append(from, list[i])
	}
	for _, row := range m.rows {
		for _, col := range own {
			args = append(args, row[col])
		}
	}
	return insertRuns + strings.Join(names, ", ") + ") SELECT " + strings.Join(from,
		", ") + " FROM " + bulk.ValuesList(list, dialect.Marks(len(own)), len(m.rows)), args
}
