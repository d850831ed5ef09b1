package running_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// steadyStore is a server with a clock of its own: time passes for it as for the node.
type steadyStore struct{ node *clocktest.Manual }

// StoreTime implements repository.TimeSource.
func (s steadyStore) StoreTime(context.Context) (time.Time, error) {
	return enginetest.Noon.Add(s.node.Monotonic()), nil
}

// Rule 13: rules, dry runs and retention compare the date of an end with what other nodes have written. A node whose
// wall clock is an hour off dates nothing by it.
func TestEndsAreDatedByTheStoresClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, step := range []time.Duration{time.Hour, -time.Hour} {
			clock := clocktest.NewManual(enginetest.Noon)
			n := enginetest.New(t, enginetest.Options{Clock: clock, StoreTime: steadyStore{clock}})
			require.NoError(t, n.Time.Measure(t.Context()))
			n.Start(t)
			clock.Jump(step)
			for _, outcome := range []entity.Outcome{entity.Succeeded(""), failed()} {
				n.Script.Reply(enginetest.Always(outcome))
				exec := startRun(t, n, n.Add(t, enginetest.Job("ends "+string(outcome.Status), nil)).ID)
				ended := n.AwaitStatus(t, exec.ID, outcome.Status)
				now := n.Time.Now()
				require.False(t, ended.UpdateTime.Before(enginetest.Noon), "dated %s at %s", ended.UpdateTime, now)
				require.False(t, ended.UpdateTime.After(now), "dated %s at %s", ended.UpdateTime, now)
				require.False(t, ended.UpdateTime.Before(ended.EndTime))
			}
		}
	})
}

// lateStore answers what its clock showed a while ago.
type lateStore struct {
	steadyStore

	by time.Duration
}

// StoreTime implements repository.TimeSource.
func (s lateStore) StoreTime(ctx context.Context) (time.Time, error) {
	now, err := s.steadyStore.StoreTime(ctx)
	s.node.Advance(s.by)
	return now, err
}

// Rule 7: a node that learned the store's time by a slow answer is behind other nodes, which fire what it arms.
func TestADelayIsNoShorterByTheClockOfAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = 400 * time.Millisecond
		clock := clocktest.NewManual(enginetest.Noon)
		n := enginetest.New(t, enginetest.Options{Clock: clock, StoreTime: lateStore{steadyStore{clock}, late}})
		require.NoError(t, n.Time.Measure(t.Context()))
		n.Start(t)
		n.Script.Reply(enginetest.Always(entity.Succeeded("")))
		job := n.Add(t, enginetest.Job("rests", delayed(nil)))
		clock.Advance(late)
		n.Fire(t)
		exec := n.Executions(t, job.ID)[0]
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		truth := enginetest.Noon.Add(clock.Monotonic())
		require.True(t, n.Time.Now().Before(truth), "this node is behind")
		next := n.Job(t, job.ID).NextFireTime
		require.False(t, next.Before(truth.Add(fixedDelay)), "%s is less than %s after %s", next, fixedDelay, truth)
		require.False(t, next.After(truth.Add(fixedDelay+late)))
	})
}
