package running

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// What an attempt waits for before it begins takes nothing of its time limit,
// and the limit is whole when it begins (engine rule 22).
func TestATimeLimitStandsStillWhileTheAttemptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		now := clock.NewSystem()
		m := &TaskManager{Deps: Deps{Clock: now, StoreClock: now}}
		a := &active{manager: m, run: entity.Run{Job: &entity.Job{TimeoutSec: 2}}, ctx: ctx, cancel: cancel}
		a.time.begin(m, a)
		attempt := a.time.context(a)
		time.Sleep(time.Second)
		begins := a.Waits()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.NoError(t, attempt.Err(), "the limit does not end an attempt that waits")

		begins()
		deadline, limited := attempt.Deadline()
		require.True(t, limited)
		require.Equal(t, time.Now().Add(2*time.Second), deadline)
		time.Sleep(2*time.Second - time.Nanosecond)
		synctest.Wait()
		require.NoError(t, attempt.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, attempt.Err(), context.DeadlineExceeded)
		require.ErrorIs(t, context.Cause(ctx), entity.ErrStopTimeout)
	})
}
