package sqldb

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

// errorKind says what to do about a driver's error.
type errorKind int

const (
	// kindOther: a fault of ours; report it.
	kindOther errorKind = iota
	// kindRetry: the transaction lost against another; run it again.
	kindRetry
	// kindBroken: the connection died, and with it the transaction.
	kindBroken
	// kindAway: the store cannot be reached or cannot write.
	kindAway
	// kindPoison: a value that the store refuses, today and tomorrow.
	kindPoison
	// kindDuplicate: a unique key exists.
	kindDuplicate
)

func mysqlKind(err error) errorKind {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return mysqlNumber(server.Number)
	}
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return kindPoison
	}
	return connectionKind(err)
}

func mysqlNumber(n uint16) errorKind {
	switch n {
	case 1213, 1205, 1020, 3572: // deadlock, lock wait, changed since read, nowait
		return kindRetry
	case 1062, 1586:
		return kindDuplicate
	case 1406, 1264, 1265, 1292, 1366, 1411, 1048, 1364, 1367, 1118, 1153, 1301, 3140, 3819, 4025:
		return kindPoison
	case 1927, 1317, 1053, 1077, 1080, 3024, 4031: // killed, interrupted, shutting down, idle too long
		return kindBroken
	case 1040, 1042, 1043, 1044, 1045, 1049, 1129, 1130, 1158, 1159, 1160, 1161, 1203, 1226,
		1290, 1792, 1836, 1021, 1030, 1114, 1180, 1181, 1036, 1037, 1041, 1969:
		return kindAway
	default:
		return kindOther
	}
}

func mysqlLockWait(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && (server.Number == 1205 || server.Number == 3572)
}

func sqliteKind(err error) errorKind {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return connectionKind(err)
	}
	switch e.Code() {
	case lite.SQLITE_CONSTRAINT_PRIMARYKEY, lite.SQLITE_CONSTRAINT_UNIQUE, lite.SQLITE_CONSTRAINT_ROWID:
		return kindDuplicate
	}
	switch e.Code() & 0xff {
	case lite.SQLITE_BUSY, lite.SQLITE_LOCKED:
		return kindRetry
	case lite.SQLITE_CONSTRAINT, lite.SQLITE_TOOBIG, lite.SQLITE_MISMATCH, lite.SQLITE_RANGE:
		return kindPoison
	case lite.SQLITE_FULL, lite.SQLITE_IOERR, lite.SQLITE_CANTOPEN, lite.SQLITE_READONLY, lite.SQLITE_PROTOCOL, lite.SQLITE_NOMEM:
		return kindAway
	default:
		return kindOther
	}
}

// mysqlRefused: the server answered COMMIT with an error that means it did not
// happen, or COMMIT never left the process.
func mysqlRefused(err error) bool {
	switch mysqlKind(err) {
	case kindRetry, kindPoison, kindDuplicate:
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
func connectionKind(err error) errorKind {
	var network net.Error
	switch {
	case err == nil:
		return kindOther
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return kindAway
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul), errors.Is(err, mysql.ErrMalformPkt),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
		return kindBroken
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return kindOther
	case errors.As(err, &network):
		return kindAway
	default:
		return kindOther
	}
}

// describe turns a driver's error into the errors of the repositories, naming
// the statement.
func (d *Dialect) describe(statement string, err error) error {
	switch d.kind(err) {
	case kindPoison:
		err = &repository.PoisonError{Err: err}
	case kindDuplicate:
		err = fmt.Errorf("%w: %w", repository.ErrDuplicateID, err)
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
	case kindBroken, kindAway, kindRetry:
		return apperror.Unavailable(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return apperror.Unavailable(err)
	}
	return err
}

// Broken reports that the connection died, and with it the transaction.
func (d *Dialect) Broken(err error) bool { return d.kind(err) == kindBroken }

// Violates reports whether a duplicate is one of the unique key with that name:
// the key's name in MySQL's message, the column's in SQLite's.
func Violates(err error, key, column string) bool {
	return strings.Contains(err.Error(), key) || strings.Contains(err.Error(), column)
}
