package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestErrorsOfMySQLAreTold(t *testing.T) {
	server := func(n uint16) error { return fmt.Errorf("insert: %w", &mysql.MySQLError{Number: n}) }
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"deadlock":              {server(1213), Retry},
		"lock wait":             {server(1205), Retry},
		"duplicate":             {server(1062), Duplicate},
		"too long":              {server(1406), Poison},
		"not null":              {server(1048), Poison},
		"bad text":              {server(1366), Poison},
		"check":                 {server(4025), Poison},
		"packet":                {mysql.ErrPktTooLarge, Poison},
		"killed":                {server(1927), Broken},
		"lost":                  {mysql.ErrInvalidConn, Broken},
		"bad connection":        {driver.ErrBadConn, Broken},
		"too many":              {server(1040), Away},
		"read only":             {server(1290), Away},
		"offline mode":          {server(3032), Away},
		"refused":               {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, Away},
		"no name":               {&net.DNSError{Err: "no such host"}, Away},
		"syntax":                {server(1064), Other},
		"in no list":            {server(1690), Unknown},
		"ours":                  {errors.New("no"), Other},
		"cancelled":             {context.Canceled, Other},
		"deadline, not network": {context.DeadlineExceeded, Other},
	} {
		require.Equal(t, c.want, mysqlKind(c.err), name)
	}
}

// greeting is the first packet of a server: its version, the id of the connection, a challenge and what it can do.
const greeting = "\x49\x00\x00\x00" + "\x0a" + "8.0.0\x00" + "\x01\x00\x00\x00" + "12345678\x00" + "\xff\xf7" + "\x2d" +
	"\x02\x00" + "\xff\x81" + "\x15" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "123456789012\x00" +
	"mysql_native_password\x00"

// broken is a connection that breaks before the answer to the greeting.
type broken struct {
	net.Conn

	reads *strings.Reader
}

func (b broken) Read(p []byte) (int, error)     { return b.reads.Read(p) }
func (broken) Write([]byte) (int, error)        { return 0, syscall.EPIPE }
func (broken) Close() error                     { return nil }
func (broken) SetReadDeadline(time.Time) error  { return nil }
func (broken) SetWriteDeadline(time.Time) error { return nil }

// The driver hides why it could not sign in.
func TestAConnectionThatBreaksBeforeItIsSignedInIsBroken(t *testing.T) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Logger = "user", &mysql.NopLogger{}
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		return broken{reads: strings.NewReader(greeting)}, nil
	}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	_, err = connector.Connect(t.Context())
	require.EqualError(t, err, "bad connection", "the driver says what it said when this was written")
	require.Equal(t, Broken, mysqlKind(fmt.Errorf("session.get: %w", err)))
}

func TestAFullServerIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		number uint16
		text   string
		want   bool
	}{
		"disk full":                   {1021, "Disk full (/tmp/#sql); waiting for someone to free some space", true},
		"table full":                  {1114, "The table 'scheduler_job' is full", true},
		"the system's number":         {28, "No space left on device", true},
		"storage engine":              {1030, "Got error 28 from storage engine", true},
		"storage engine of MariaDB":   {1030, "Got error 28 \"No space left on device\" from storage engine InnoDB", true},
		"a file":                      {1026, "Error writing file './a.MYD' (errno: 28 \"No space left on device\")", true},
		"a temporary file":            {3, "Error writing file '/tmp/MYfd' (Errcode: 28 - No space left on device)", true},
		"a temporary file, elsewhere": {3, "Error writing file '/tmp/MYfd' (OS errno 28 - No space left on device)", true},
		"another error of the engine": {1030, "Got error 128 from storage engine", false},
		"another error of a file":     {1026, "Error writing file './a.MYD' (errno: 5 \"Input/output error\")", false},
		"a value with the words":      {1366, "Incorrect value: 'error 28'", false},
	} {
		err := fmt.Errorf("insert: %w", &mysql.MySQLError{Number: c.number, Message: c.text})
		require.Equal(t, c.want, mysqlFull(err), name)
		if c.want {
			require.Equal(t, Away, mysqlKind(err), name)
		}
	}
}

func TestOnlyAnAnswerMakesACommitCertain(t *testing.T) {
	for _, err := range []error{&mysql.MySQLError{Number: 1213}, &mysql.MySQLError{Number: 1205}, context.Canceled} {
		require.True(t, mysqlRefused(err), err)
	}
	for _, err := range []error{
		mysql.ErrInvalidConn, driver.ErrBadConn, &mysql.MySQLError{Number: 1927},
		&mysql.MySQLError{Number: 1317}, errors.New("who knows"),
	} {
		require.False(t, mysqlRefused(err), err)
	}
}

// An answer that is in no list is told apart from the errors of the program, once.
func TestAnUnknownAnswerIsToldApart(t *testing.T) {
	d := NewMySQL(false)
	err := d.Describe("write", d.Describe("insert", &mysql.MySQLError{Number: 1690, Message: "out of range"}))
	var unknown *repository.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, "write: insert: an answer of the store that is not known: Error 1690: out of range")
	require.Equal(t, Unknown, d.Kind(err))
	require.NotErrorAs(t, d.Describe("insert", errors.New("ours")), &unknown)
}

func TestAnAwayStoreIsUnavailable(t *testing.T) {
	d := NewMySQL(false)
	require.True(t, apperror.Is(d.Unavailable(mysql.ErrInvalidConn), apperror.KindUnavailable))
	require.True(t, apperror.Is(d.Unavailable(context.DeadlineExceeded), apperror.KindUnavailable))
	require.Equal(t, context.Canceled, d.Unavailable(context.Canceled))
	require.NoError(t, d.Unavailable(nil))
}
