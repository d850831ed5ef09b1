package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestTimesRoundTripAndSortAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli())
		a, b := time.UnixMilli(ms.Draw(t, "a")), time.UnixMilli(ms.Draw(t, "b"))
		require.Equal(t, a.UTC().Format(layout), TimeText(a))
		var s DBTime
		require.NoError(t, s.Scan([]byte(TimeText(a))))
		require.Equal(t, a.UTC(), s.Time())
		require.Equal(t, a.Before(b), TimeText(a) < TimeText(b))
	})
}

func TestTimesInOtherForms(t *testing.T) {
	var s DBTime
	require.NoError(t, s.Scan("2026-11-20 21:33:00"))
	require.Equal(t, time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC), s.Time())
	require.NoError(t, s.Scan(nil))
	require.True(t, s.Time().IsZero())
	require.Nil(t, TimeArg(time.Time{}))
	for _, wrong := range []any{"", "soon", "2026-11-20T21:33:00.000", "2026-11-2x 21:33:00.000", 7} {
		require.Error(t, s.Scan(wrong), "%v", wrong)
	}
}

func TestLanesServeTheMostUrgentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l laneLock
		require.NoError(t, l.lock(t.Context(), repository.LaneLogs))
		var order []string
		for i, lane := range []repository.Lane{repository.LaneRetention, repository.LaneLogs, repository.LaneAPI, repository.LaneFire, repository.LaneFire, repository.LaneComplete} {
			go func() {
				if l.lock(context.Background(), lane) == nil {
					order = append(order, fmt.Sprintf("%d:%d", lane, i))
					l.unlock()
				}
			}()
			synctest.Wait()
		}
		l.unlock()
		synctest.Wait()
		require.Equal(t, []string{"0:3", "0:4", "1:5", "2:2", "3:1", "4:0"}, order)
		require.NoError(t, l.lock(t.Context(), repository.LaneRetention), "it is free again")
	})
}

func TestAWaiterThatGivesUpPassesItsTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l laneLock
		require.NoError(t, l.lock(t.Context(), repository.LaneFire))
		ctx, cancel := context.WithCancel(t.Context())
		gone, served := make(chan error, 1), make(chan error, 1)
		go func() { gone <- l.lock(ctx, repository.LaneFire) }()
		synctest.Wait()
		go func() { served <- l.lock(t.Context(), repository.LaneLogs) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		l.unlock()
		require.NoError(t, <-served)
		// The turn that comes while the waiter leaves is not lost.
		turn := make(chan struct{})
		l.waiting[repository.LaneFire] = append(l.waiting[repository.LaneFire], turn)
		l.unlock()
		<-turn
		l.leave(repository.LaneFire, turn)
		require.NoError(t, l.lock(t.Context(), repository.LaneAPI))
		require.ErrorIs(t, l.lock(ctx, repository.LaneFire), context.Canceled)
	})
}

func TestErrorsOfMySQLAreTold(t *testing.T) {
	server := func(n uint16) error { return fmt.Errorf("insert: %w", &mysql.MySQLError{Number: n}) }
	for name, c := range map[string]struct {
		err  error
		want errorKind
	}{
		"deadlock":              {server(1213), kindRetry},
		"lock wait":             {server(1205), kindRetry},
		"duplicate":             {server(1062), kindDuplicate},
		"too long":              {server(1406), kindPoison},
		"not null":              {server(1048), kindPoison},
		"bad text":              {server(1366), kindPoison},
		"check":                 {server(4025), kindPoison},
		"packet":                {mysql.ErrPktTooLarge, kindPoison},
		"killed":                {server(1927), kindBroken},
		"lost":                  {mysql.ErrInvalidConn, kindBroken},
		"bad connection":        {driver.ErrBadConn, kindBroken},
		"too many":              {server(1040), kindAway},
		"read only":             {server(1290), kindAway},
		"refused":               {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, kindAway},
		"no name":               {&net.DNSError{Err: "no such host"}, kindAway},
		"syntax":                {server(1064), kindOther},
		"ours":                  {errors.New("no"), kindOther},
		"cancelled":             {context.Canceled, kindOther},
		"deadline, not network": {context.DeadlineExceeded, kindOther},
	} {
		require.Equal(t, c.want, mysqlKind(c.err), name)
	}
}

func TestOnlyAnAnswerMakesACommitCertain(t *testing.T) {
	for _, err := range []error{&mysql.MySQLError{Number: 1213}, &mysql.MySQLError{Number: 1205}, context.Canceled} {
		require.True(t, mysqlRefused(err), err)
	}
	for _, err := range []error{mysql.ErrInvalidConn, driver.ErrBadConn, &mysql.MySQLError{Number: 1927}, &mysql.MySQLError{Number: 1317}, errors.New("who knows")} {
		require.False(t, mysqlRefused(err), err)
	}
}

func TestAnAwayStoreIsUnavailable(t *testing.T) {
	d := newMySQLDialect()
	require.True(t, apperror.Is(d.Unavailable(mysql.ErrInvalidConn), apperror.KindUnavailable))
	require.True(t, apperror.Is(d.Unavailable(context.DeadlineExceeded), apperror.KindUnavailable))
	require.Equal(t, context.Canceled, d.Unavailable(context.Canceled))
	require.NoError(t, d.Unavailable(nil))
}

func TestValueTableBindsWhatIsSharedOnce(t *testing.T) {
	ids, ends := []string{"a", "b", "c"}, []any{"1", nil, "3"}
	for lists, derived := range map[bool]string{
		false: "(SELECT " + AsID + " AS c0, " + AsTime + " AS c1 UNION ALL SELECT ?,? UNION ALL SELECT ?,?) v",
		true:  "(WITH x(c0,c1) AS (VALUES (" + AsID + ", " + AsTime + "),(?,?),(?,?)) SELECT * FROM x) v",
	} {
		d := newMySQLDialect()
		d.ValuesLists = lists
		v := NewBulkUpdate(3, func(i int) any { return ids[i] })
		set := "t.status = " + v.Expr(AsIs, func(int) any { return "SUCCESS" }) + ", t.end_time = " + v.Expr(AsTime, func(i int) any { return ends[i] })
		query, args := v.Update(d, "runs", set, "t.token = "+v.Expr(AsIs, func(int) any { return 7 }))
		require.Equal(t, "UPDATE "+derived+" STRAIGHT_JOIN runs t FORCE INDEX (PRIMARY)"+
			" ON v.c0 = t.id SET t.status = ?, t.end_time = v.c1 WHERE t.token = ?", query)
		require.Equal(t, []any{"a", "1", "b", nil, "c", "3", "SUCCESS", 7}, args)
	}
}
