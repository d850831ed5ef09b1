package detached_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rule 13: the time-out of a run that a target has accepted is as long as it should be on SQLite, too.
func TestATimeoutOfADetachedRunKeepsItsLengthWhateverTheWallClockDoes(t *testing.T) {
	for name, step := range map[string]time.Duration{
		"half an hour back": -30 * time.Minute, "half an hour ahead": 30 * time.Minute, "seven seconds " +
			"ahead": 7 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			r := firstAtWork(t, 1)
			n := r.one()
			exec := r.detached(n, r.job(func(j *entity.Job) { j.TimeoutSec = 20 }).ID)
			require.Eventually(t, func() bool { return !n.Runner.Ends.Pending() }, 20*time.Second, time.Millisecond)
			n.Clock.Advance(5 * time.Second)
			n.Clock.Jump(step)
			n.Clock.Advance(14 * time.Second)
			ended, err := n.Detached.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Zero(t, ended, "its time is not over")
			n.Clock.Advance(time.Second + 200*time.Millisecond)
			ended, err = n.Detached.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, ended)
			require.Equal(t, []string{"TIMEOUT(TIMEOUT)"},
				enginetest.States([]*entity.Execution{n.Execution(t, exec.ID)}))
		})
	}
}
