// Package dialect holds what SQLite and MySQL or MariaDB say differently: fragments of
// statements, and the meaning of their errors.
package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Dialect holds what the two stores say differently. The fragments begin with
// a space or are empty, so that they can be put into a statement.
type Dialect struct {
	// name is "sqlite" or "mysql".
	name string
	// ForUpdate locks what a SELECT returns; SQLite's writer is alone anyway.
	ForUpdate string
	// ForShare lets others read what a SELECT returns, and nobody change it.
	ForShare string
	// SkipLocked is ForUpdate passing over rows that others hold.
	SkipLocked string
	// NoWait begins a statement that fails at once where others hold a row
	// (MariaDB); without it the statement waits.
	NoWait string
	// ByPrimary, ByClaim, ByDue, ByJob and BySeq pin the index of a hot statement:
	// a wrong guess of the optimizer would lock rows that nobody asked for.
	ByPrimary string
	ByClaim   string
	ByDue     string
	ByJob     string
	BySeq     string
	// ignoreDuplicate ends an INSERT that must do nothing when the row exists;
	// %s is a column of the table.
	ignoreDuplicate string
	// MaxRows bounds the rows of one statement.
	MaxRows int
	// InsertRows is how many runs one INSERT adds. On SQLite it is also the
	// granule: what is left over goes row by row, so that few texts are
	// prepared.
	InsertRows int
	// ValuesLists: VALUES (…),(…) may stand for a table (MariaDB).
	ValuesLists bool
	// ScanWindow is how many rows the first window of a filtered list has.
	ScanWindow int
	// kind says what to do about an error.
	kind func(error) Kind
	// LockWait reports that others held a row for too long.
	LockWait func(error) bool
	// refused reports that a failed COMMIT certainly did not happen.
	refused func(error) bool
}

// MySQL and SQLite are the drivers. They are told apart by name in the few places
// where the shape of a statement differs, not only a fragment of it.
const (
	MySQL  = "mysql"
	SQLite = "sqlite"
)

// UnknownDriver is the error for a driver that is neither of the two.
func UnknownDriver(name string) error {
	return fmt.Errorf("store.driver is %q; it must be sqlite or mysql", name)
}

// NewMySQL gives the dialect of MySQL, or of MariaDB.
func NewMySQL(mariaDB bool) *Dialect {
	d := &Dialect{
		name:       MySQL,
		ForUpdate:  " FOR UPDATE",
		ForShare:   " LOCK IN SHARE MODE",
		SkipLocked: " FOR UPDATE SKIP LOCKED",
		ByPrimary:  " FORCE INDEX (PRIMARY)",
		ByClaim:    " FORCE INDEX (idx_claim)",
		ByDue:      " FORCE INDEX (idx_due)",
		ByJob:      " FORCE INDEX (idx_job_id)",
		BySeq:      " FORCE INDEX (idx_job_seq)",
		// Not INSERT IGNORE, which would also hide values that do not fit.
		ignoreDuplicate: " ON DUPLICATE KEY UPDATE %s = %s",
		// MariaDB turns IN lists of a thousand and more into a derived table,
		// which locks differently; stay below.
		MaxRows:    500,
		InsertRows: 500,
		ScanWindow: 500,
		kind:       mysqlKind,
		LockWait:   mysqlLockWait,
		refused:    mysqlRefused,
	}
	if mariaDB {
		d.ValuesLists, d.NoWait = true, "SET STATEMENT innodb_lock_wait_timeout=0 FOR "
	}
	return d
}

// NewSQLite gives the dialect of SQLite.
func NewSQLite() *Dialect {
	return &Dialect{
		name:            SQLite,
		ByClaim:         " INDEXED BY idx_execution_claim",
		ByDue:           " INDEXED BY idx_job_due",
		ByJob:           " INDEXED BY idx_execution_job",
		BySeq:           " INDEXED BY idx_live_fire_seq",
		ignoreDuplicate: " ON CONFLICT DO NOTHING",
		MaxRows:         1000,
		InsertRows:      8,
		ScanWindow:      500,
		kind:            sqliteKind,
		LockWait:        func(error) bool { return false }, // one writer
		refused:         sqliteRefused,
	}
}

// IsSQLite reports whether the store is a SQLite file.
func (d *Dialect) IsSQLite() bool { return d.name == SQLite }

// OnDuplicateKeep ends an INSERT that leaves an existing row as it is.
func (d *Dialect) OnDuplicateKeep(column string) string {
	return strings.ReplaceAll(d.ignoreDuplicate, "%s", column)
}

// OnDuplicateSet ends an INSERT that writes over the columns of an existing row. key are the columns of its key.
func (d *Dialect) OnDuplicateSet(key string, columns ...string) string {
	text, value := " ON DUPLICATE KEY UPDATE ", "%[1]s = VALUES(%[1]s)"
	if d.IsSQLite() {
		text, value = " ON CONFLICT ("+key+") DO UPDATE SET ", "%[1]s = excluded.%[1]s"
	}
	for i, column := range columns {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf(value, column)
	}
	return text
}

// In renders "column IN (…)" for texts. SQLite gets one JSON argument, so that
// the statement's text does not depend on the number and stays prepared.
func (d *Dialect) In(column string, values []string) (string, []any) {
	if d.IsSQLite() {
		list, _ := json.Marshal(values) // a slice of strings always marshals
		return column + " IN (SELECT value FROM json_each(?))", []any{string(list)}
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return column + " IN (" + Marks(len(values)) + ")", args
}

// InAny is in for a list that may be empty: nothing is in it.
func (d *Dialect) InAny(column string, values []string) (string, []any) {
	if len(values) == 0 {
		return "1 = 0", nil
	}
	return d.In(column, values)
}

// Marks is n question marks with commas between them.
func Marks(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat("?,", n-1) + "?"
}
