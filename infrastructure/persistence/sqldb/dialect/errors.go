package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	lite "modernc.org/sqlite/lib"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Kind says what to do about a driver's error.
type Kind int

const (
	// Other is an error of the program: report it.
	Other Kind = iota
	// Retry means that the transaction lost against another: run it again.
	Retry
	// Broken means that the connection died, and with it the transaction.
	Broken
	// Away means that the store cannot be reached or cannot write.
	Away
	// Poison is a value that the store refuses, today and tomorrow.
	Poison
	// Duplicate means that the unique key exists already.
	Duplicate
	// Unknown is an answer of the store that is in no list here.
	Unknown
)

func mysqlKind(err error) Kind {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		if mysqlFull(err) {
			return Away
		}
		return mysqlNumber(server.Number)
	}
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return Poison
	}
	return connectionKind(err)
}

// mysqlNumber knows the numbers of MySQL and of MariaDB, whichever of them answers. It needs no name of the server:
// 1927 (the connection was killed) and 1969 (max_statement_time) are MariaDB's, and MySQL has no number from 1889 to
// 2999. 4031 is MySQL's idle connection; MariaDB means a missing trigger by it, and the store has no triggers.
func mysqlNumber(n uint16) Kind {
	switch n {
	case 1213, 1205, 1020, 3572: // deadlock, lock wait, changed since read, nowait
		return Retry
	case 1062, 1586:
		return Duplicate
	case 1406, 1264, 1265, 1292, 1366, 1411, 1048, 1364, 1367, 1118, 1153, 1301, 3140, 3819, 4025:
		return Poison
	case 1927, 1317, 1053, 1077, 1080, 3024, 4031: // killed, interrupted, shutting down, idle too long
		return Broken
	case 1040, 1042, 1043, 1044, 1045, 1049, 1129, 1130, 1158, 1159, 1160, 1161, 1203, 1226,
		1290, 1792, 1836, 3032, 1021, 1030, 1114, 1180, 1181, 1036, 1037, 1041, 1969:
		return Away
	case 1064: // the text of a statement is the program's
		return Other
	default:
		return Unknown
	}
}

func mysqlLockWait(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && (server.Number == 1205 || server.Number == 3572)
}

func sqliteKind(err error) Kind {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return connectionKind(err)
	}
	switch e.Code() {
	case lite.SQLITE_CONSTRAINT_PRIMARYKEY, lite.SQLITE_CONSTRAINT_UNIQUE, lite.SQLITE_CONSTRAINT_ROWID:
		return Duplicate
	}
	switch e.Code() & 0xff {
	case lite.SQLITE_BUSY, lite.SQLITE_LOCKED:
		return Retry
	case lite.SQLITE_CONSTRAINT, lite.SQLITE_TOOBIG, lite.SQLITE_MISMATCH, lite.SQLITE_RANGE:
		return Poison
	case lite.SQLITE_FULL, lite.SQLITE_IOERR, lite.SQLITE_CANTOPEN, lite.SQLITE_READONLY, lite.SQLITE_PROTOCOL,
		lite.SQLITE_NOMEM:
		return Away
	case lite.SQLITE_ERROR, lite.SQLITE_MISUSE:
		return Other
	default:
		return Unknown
	}
}

// PassesByItself reports errors of a MySQL server that waiting may mend.
func PassesByItself(err error) bool {
	switch mysqlKind(err) {
	case Broken, Away, Retry:
		return true
	}
	return false
}

// mysqlRefused: the server answered COMMIT with an error that means it did not
// happen, or COMMIT never left the process.
func mysqlRefused(err error) bool {
	switch mysqlKind(err) {
	case Retry, Poison, Duplicate:
		return true
	}
	return notSent(err)
}

// sqliteRefused: SQLite says what became of a COMMIT, except when the disk
// failed under it.
func sqliteRefused(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff != lite.SQLITE_IOERR
	}
	return notSent(err)
}

// notSent reports errors that arise before COMMIT is sent: the transaction had
// ended, or its context had.
func notSent(err error) bool {
	return errors.Is(err, sql.ErrTxDone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// connectionKind judges errors that no server sent.
func connectionKind(err error) Kind {
	var network net.Error
	switch {
	case err == nil:
		return Other
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Away
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul), errors.Is(err, mysql.ErrMalformPkt),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.ECONNRESET), unsent(err):
		return Broken
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Other
	case errors.As(err, &network):
		return Away
	default:
		return Other
	}
}

// unsent reports the driver's error for a packet of which nothing was sent. The driver replaces it by
// driver.ErrBadConn, except where the connection breaks before it is signed in, and it exports no name for it.
func unsent(err error) bool {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err != nil && err.Error() == "bad connection"
}

// Describe turns a driver's error into the errors of the repositories, naming
// the statement.
func (d *Dialect) Describe(statement string, err error) error {
	switch d.kind(err) {
	case Poison:
		err = &repository.PoisonError{Err: err}
	case Duplicate:
		err = fmt.Errorf("%w: %w", repository.ErrDuplicateID, err)
	case Unknown:
		if !errors.As(err, new(*repository.UnknownError)) {
			err = &repository.UnknownError{Err: err}
		}
	}
	return fmt.Errorf("%s: %w", statement, err)
}

// Unavailable reports the store as unavailable where that is the reason, so that an
// edge can answer "later" instead of "broken".
func (d *Dialect) Unavailable(err error) error {
	if err == nil || apperror.Is(err, apperror.KindUnavailable) {
		return err
	}
	switch d.kind(err) {
	case Broken, Away, Retry:
		return apperror.Unavailable(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return apperror.Unavailable(err)
	}
	return err
}

// Kind says what to do about an error of the store.
func (d *Dialect) Kind(err error) Kind { return d.kind(err) }

// Refused reports that a failed COMMIT certainly did not happen.
func (d *Dialect) Refused(err error) bool { return d.refused(err) }

// Violates reports whether a duplicate is one of the unique key with that name:
// the key's name in MySQL's message, the column's in SQLite's.
func Violates(err error, key, column string) bool {
	return strings.Contains(err.Error(), key) || strings.Contains(err.Error(), column)
}
