package backfill_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// counted counts how often the store is asked, and fails on demand.
type counted struct {
	repository.Backfills
	active, fires int
	fail          error
}

func (c *counted) ActiveBackfills(ctx context.Context, limit int) ([]entity.Backfill, error) {
	c.active++
	if c.fail != nil {
		return nil, c.fail
	}
	return c.Backfills.ActiveBackfills(ctx, limit)
}

func (c *counted) FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error) {
	c.fires++
	return c.Backfills.FiresAt(ctx, jobID, times)
}

type bench struct {
	*enginetest.Node
	t     *testing.T
	asked *counted
	m     *backfill.Manager
}

func newBench(t *testing.T) *bench {
	n := enginetest.New(t, enginetest.Options{})
	asked := &counted{Backfills: n.Store}
	return &bench{n, t, asked, backfill.New(backfill.Deps{
		Store: n.Faults, Backfills: asked, Admitter: n.Admitter, Schedules: n.Schedules, Commits: n.Commits, Clock: n.Clock,
		StoreClock: n.Time,
	})}
}

// ask stores a backfill of the seconds before noon, under a job that fires
// every second.
func (b *bench) ask(id string, seconds, parallel int) entity.Backfill {
	b.t.Helper()
	job := b.Add(b.t, enginetest.Job("job of "+id, func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.Routing.Labels = map[string]string{"node": "nobody"} // nothing starts
	}))
	from := enginetest.Noon.Add(-time.Duration(seconds) * time.Second)
	f := entity.Backfill{
		ID: id, JobID: job.ID, From: from, To: enginetest.Noon, Cursor: from, Schedule: job.Schedule, MaxParallel: parallel,
		Status: entity.BackfillActive, Total: seconds, Version: 1, CreateTime: enginetest.Noon, UpdateTime: enginetest.Noon,
	}
	b.Write(b.t, func(ctx context.Context, tx repository.Tx) error { return tx.Backfills.Add(ctx, f) })
	return f
}

// turns lets the task run at its interval for a while.
func (b *bench) turns(n int) {
	b.t.Helper()
	for range n {
		b.Clock.Advance(500 * time.Millisecond)
		require.NoError(b.t, b.m.RunOnce(b.t.Context()))
	}
}

func TestWhatIsIdleAsksTheStoreSeldom(t *testing.T) {
	b := newBench(t)
	b.turns(51)
	require.Equal(t, 11, b.asked.active, "at once, then each 2.5 seconds")
	f := b.ask("one", 100, 1)
	b.turns(5)
	require.Len(t, b.Executions(t, f.JobID), 1, "what another node made is found")
	asked := *b.asked
	b.turns(10)
	require.Equal(t, []int{asked.active + 10, asked.fires + 10}, []int{b.asked.active, b.asked.fires},
		"while a run is live, two reads a turn")
}

func TestTheTroubleOfOneBackfillHoldsNoOtherUp(t *testing.T) {
	b := newBench(t)
	one, two := b.ask("one", 10, 1), b.ask("two", 10, 1)
	b.Faults.Next("backfill", enginetest.Refused)
	require.ErrorContains(t, b.m.RunOnce(t.Context()), "backfill one")
	require.Empty(t, b.Executions(t, one.JobID))
	require.Len(t, b.Executions(t, two.JobID), 1)
	b.turns(1)
	require.Len(t, b.Executions(t, one.JobID), 1)
}

// While the store is away no turn looks as if it had gone well.
func TestAnOutageIsNotPutOff(t *testing.T) {
	b := newBench(t)
	b.asked.fail = errors.New("away")
	for range 10 {
		require.ErrorContains(t, b.m.RunOnce(t.Context()), "find active backfills: away")
		b.Clock.Advance(500 * time.Millisecond)
	}
	b.asked.fail = nil
	b.turns(1)
	require.Equal(t, 11, b.asked.active)
	b.turns(4)
	require.Equal(t, 11, b.asked.active, "nothing is active")
}

// Times that ran are passed over in one turn, however many.
func TestWhatRanIsPassedOverAtOnce(t *testing.T) {
	b := newBench(t)
	f := b.ask("one", 900, 1)
	b.Write(t, func(ctx context.Context, tx repository.Tx) error {
		var execs []*entity.Execution
		for at := f.From; at.Before(f.To.Add(-time.Second)); at = at.Add(time.Second) {
			key := identity.FireKey(at)
			execs = append(execs, &entity.Execution{
				ID: identity.ExecutionID(at, f.JobID, key, 3), JobID: f.JobID, FireKey: key, ScheduledTime: at, DueTime: at,
				Trigger: entity.TriggerSchedule, ShardIndex: 3, ShardTotal: 4, Status: entity.StatusSuccess, CreateTime: at,
				UpdateTime: at,
			})
		}
		return tx.Executions.Insert(ctx, execs)
	})
	b.turns(1)
	now, err := b.Store.Backfill(t.Context(), f.ID)
	require.NoError(t, err)
	require.Equal(t, []time.Time{f.To.Add(-time.Second)}, now.Open)
	require.Equal(t, f.To, now.Cursor)
}

func TestWhatCountsAsRun(t *testing.T) {
	noon := enginetest.Noon
	for name, c := range map[string]struct {
		key    string
		status entity.Status
		want   bool
	}{
		"a planned run":             {identity.FireKey(noon), entity.StatusDead, true},
		"a planned run that waits":  {identity.FireKey(noon), entity.StatusWaiting, true},
		"a skipped fire":            {identity.FireKey(noon), entity.StatusSkipped, false},
		"a skipped range":           {identity.RangeKey(noon), entity.StatusSkipped, false},
		"a backfilled run":          {identity.BackfillKey(noon), entity.StatusSuccess, true},
		"one that did not start":    {identity.BackfillKey(noon), entity.StatusSkipped, true},
		"a run by hand":             {"MANUAL:x", entity.StatusSuccess, false},
		"a run of the next instant": {identity.FireKey(noon.Add(time.Millisecond)), entity.StatusSuccess, false},
	} {
		require.Equal(t, c.want, backfill.Read([]*entity.Execution{{FireKey: c.key, Status: c.status}}).Ran(noon), name)
	}
}
