// Package connect opens connections to MySQL or MariaDB and to SQLite files, and says
// what to mend where they cannot be opened.
package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// OpenError is why a store cannot be opened, as one line that names the setting
// to mend and holds no secret.
type OpenError struct {
	Remedy string
	// Final is true where no waiting helps.
	Final bool
	err   error
}

// Error implements error.
func (e *OpenError) Error() string { return e.Remedy }

// Unwrap gives the cause; it is of apperror.KindUnavailable where waiting may help.
func (e *OpenError) Unwrap() error { return e.err }

// Waitable reports errors of Open that may go away by themselves: the server
// comes back, or another process migrates.
func Waitable(err error) bool {
	var open *OpenError
	if errors.As(err, &open) {
		return !open.Final
	}
	return dialect.PassesByItself(err) || apperror.Is(err, apperror.KindUnavailable)
}

// Misconfigured is an OpenError of a setting that no waiting mends; its line is the
// format with the arguments.
func Misconfigured(format string, args ...any) *OpenError {
	return &OpenError{Remedy: fmt.Sprintf(format, args...), Final: true}
}

const checkDSN = "check store.dsn (PS_STORE_DSN)"

// dsnError says what is wrong with a DSN without repeating it: a parser that
// took a password for something else would show it.
func dsnError(err error) error {
	what := ""
	if strings.HasPrefix(err.Error(), "invalid DSN: ") { // constant texts
		what = ": " + strings.TrimPrefix(err.Error(), "invalid DSN: ")
	}
	return Misconfigured("store.dsn (PS_STORE_DSN) is not of the form user:password@tcp(host:port)/database%s", what)
}

// connectError explains why a server cannot be used.
func connectError(cfg *mysql.Config, err error) error {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		if e := refusedBy(cfg, server); e != nil {
			e.err = err
			return e
		}
	}
	e := &OpenError{err: err}
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrNativePassword),
		errors.Is(err, mysql.ErrOldPassword), errors.Is(err, mysql.ErrUnknownPlugin):
		e.Final, e.Remedy = true,
			fmt.Sprintf("the store at %s wants to be signed in to in a way that is not allowed (%v); %s", cfg.Addr, err,
				checkDSN)
	case errors.Is(err, mysql.ErrNoTLS), errors.As(err, &record), errors.As(err, &certificate), errors.As(err, &authority):
		e.Final, e.Remedy = true,
			fmt.Sprintf("the store at %s was reached without agreement on TLS; check tls=… in store.dsn (PS_STORE_DSN)",
				cfg.Addr)
	default:
		e.Remedy = fmt.Sprintf("the store at %s does not answer: %s; %s", cfg.Addr, reasonOf(err), checkDSN)
		e.err = apperror.Unavailable(err)
	}
	return e
}

// refusedBy explains what the server said, or is nil where that may pass.
func refusedBy(cfg *mysql.Config, server *mysql.MySQLError) *OpenError {
	switch server.Number {
	case 1045, 1698:
		return Misconfigured("the store at %s refuses the user %q or the password; %s", cfg.Addr, cfg.User, checkDSN)
	case 1044:
		return Misconfigured("the store at %s does not let the user %q use the database %q; grant it, or %s", cfg.Addr,
			cfg.User, cfg.DBName, checkDSN)
	case 1049:
		return Misconfigured("the store at %s has no database %q; create it, or %s", cfg.Addr, cfg.DBName, checkDSN)
	case 1129, 1130:
		return Misconfigured("the store at %s does not let this machine in; mend the server's hosts, or %s", cfg.Addr,
			checkDSN)
	}
	return nil
}

// reasonOf is the short reason of an error of the network.
func reasonOf(err error) string {
	var host *net.DNSError
	var server *mysql.MySQLError
	switch {
	case errors.As(err, &server):
		return fmt.Sprintf("error %d", server.Number)
	case errors.As(err, &host):
		return "the host is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul),
		errors.Is(err, mysql.ErrPktTooLarge):
		return "what answers is no MySQL or MariaDB"
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Err.Error()
	}
	return "the connection broke"
}
