package persistence

import (
	"encoding/json"
	"strings"
)

// dialect holds what the two stores say differently. The fragments begin with
// a space or are empty, so that they can be put into a statement.
type dialect struct {
	// name is "sqlite" or "mysql".
	name string
	// forUpdate locks what a SELECT returns; SQLite's writer is alone anyway.
	forUpdate string
	// forShare lets others read what a SELECT returns, and nobody change it.
	forShare string
	// skipLocked is forUpdate passing over rows that others hold.
	skipLocked string
	// noWait begins a statement that fails at once where others hold a row
	// (MariaDB); without it the statement waits.
	noWait string
	// byPrimary, byClaim, byDue, byJob and bySeq pin the index of a hot statement: a wrong guess of
	// the optimizer would lock rows that nobody asked for.
	byPrimary string
	byClaim   string
	byDue     string
	byJob     string
	bySeq     string
	// ignoreDuplicate ends an INSERT that must do nothing when the row exists;
	// %s is a column of the table.
	ignoreDuplicate string
	// maxRows bounds the rows of one statement.
	maxRows int
	// insertRows is how many runs one INSERT adds. On SQLite it is also the
	// granule: what is left over goes row by row, so that few texts are
	// prepared.
	insertRows int
	// valuesLists: VALUES (…),(…) may stand for a table (MariaDB).
	valuesLists bool
	// scanWindow is how many rows the first window of a filtered list has.
	scanWindow int
	kind       func(error) kind
	// lockWait reports that others held a row for too long.
	lockWait func(error) bool
	// refused reports that a failed COMMIT certainly did not happen.
	refused func(error) bool
}

// mysql and sqlite are told apart by name in the few places where the shape of
// a statement differs, not only a fragment of it.
const (
	driverMySQL  = "mysql"
	driverSQLite = "sqlite"
)

func newMySQLDialect() *dialect {
	return &dialect{
		name:       driverMySQL,
		forUpdate:  " FOR UPDATE",
		forShare:   " LOCK IN SHARE MODE",
		skipLocked: " FOR UPDATE SKIP LOCKED",
		byPrimary:  " FORCE INDEX (PRIMARY)",
		byClaim:    " FORCE INDEX (idx_claim)",
		byDue:      " FORCE INDEX (idx_due)",
		byJob:      " FORCE INDEX (idx_job_id)",
		bySeq:      " FORCE INDEX (idx_job_seq)",
		// Not INSERT IGNORE, which would also hide values that do not fit.
		ignoreDuplicate: " ON DUPLICATE KEY UPDATE %s = %s",
		// MariaDB turns IN lists of a thousand and more into a derived table,
		// which locks differently; stay below.
		maxRows:    500,
		insertRows: 500,
		scanWindow: 500,
		kind:       mysqlKind,
		lockWait:   mysqlLockWait,
		refused:    mysqlRefused,
	}
}

func newSQLiteDialect() *dialect {
	return &dialect{
		name:            driverSQLite,
		byClaim:         " INDEXED BY idx_execution_claim",
		byDue:           " INDEXED BY idx_job_due",
		byJob:           " INDEXED BY idx_execution_job",
		bySeq:           " INDEXED BY idx_live_fire_seq",
		ignoreDuplicate: " ON CONFLICT DO NOTHING",
		maxRows:         1000,
		insertRows:      8,
		scanWindow:      500,
		kind:            sqliteKind,
		lockWait:        func(error) bool { return false }, // one writer
		refused:         sqliteRefused,
	}
}

func (d *dialect) lite() bool { return d.name == driverSQLite }

// onDuplicateKeep ends an INSERT that leaves an existing row as it is.
func (d *dialect) onDuplicateKeep(column string) string {
	return strings.ReplaceAll(d.ignoreDuplicate, "%s", column)
}

// in renders "column IN (…)" for texts. SQLite gets one JSON argument, so that
// the statement's text does not depend on the number and stays prepared.
func (d *dialect) in(column string, values []string) (string, []any) {
	if d.lite() {
		list, _ := json.Marshal(values) // a slice of strings always marshals
		return column + " IN (SELECT value FROM json_each(?))", []any{string(list)}
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return column + " IN (" + marks(len(values)) + ")", args
}

// inAny is in for a list that may be empty: nothing is in it.
func (d *dialect) inAny(column string, values []string) (string, []any) {
	if len(values) == 0 {
		return "1 = 0", nil
	}
	return d.in(column, values)
}

// marks is n question marks with commas between them.
func marks(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat("?,", n-1) + "?"
}

// chunks cuts a list into pieces of at most n.
func chunks[T any](list []T, n int) [][]T {
	var out [][]T
	for len(list) > n {
		out = append(out, list[:n])
		list = list[n:]
	}
	if len(list) > 0 {
		out = append(out, list)
	}
	return out
}
