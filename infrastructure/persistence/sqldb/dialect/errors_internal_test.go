package dialect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
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
		"refused":               {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, Away},
		"no name":               {&net.DNSError{Err: "no such host"}, Away},
		"syntax":                {server(1064), Other},
		"ours":                  {errors.New("no"), Other},
		"cancelled":             {context.Canceled, Other},
		"deadline, not network": {context.DeadlineExceeded, Other},
	} {
		require.Equal(t, c.want, mysqlKind(c.err), name)
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

func TestAnAwayStoreIsUnavailable(t *testing.T) {
	d := NewMySQL(false)
	require.True(t, apperror.Is(d.Unavailable(mysql.ErrInvalidConn), apperror.KindUnavailable))
	require.True(t, apperror.Is(d.Unavailable(context.DeadlineExceeded), apperror.KindUnavailable))
	require.Equal(t, context.Canceled, d.Unavailable(context.Canceled))
	require.NoError(t, d.Unavailable(nil))
}
