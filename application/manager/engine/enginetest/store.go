package enginetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Job is a definition that runs on demand; change says what is special.
func Job(name string, change func(j *entity.Job)) *entity.Job {
	j := validation.NewJob("UTC")
	j.Name, j.Type, j.Class = name, entity.JobCustom, "noop"
	j.Schedule = schedule.Spec{Kind: schedule.None, TimeZone: "UTC"}
	if change != nil {
		change(j)
	}
	validation.Defaults(j, "UTC")
	return j
}

// Every makes a job that fires at a fixed rate, at Noon for the first time.
func Every(interval time.Duration) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs, j.Schedule.Anchor = schedule.FixedRate, interval.Milliseconds(),
			Noon.Add(-interval)
	}
}

// Add stores an ENABLED job that is planned from the clock's now on: a schedule
// that fires at this very moment is due.
func (n *Node) Add(t testing.TB, j *entity.Job) *entity.Job {
	t.Helper()
	now := n.Clock.Now()
	j.ID = uuid.Must(uuid.NewV7()).String()
	j.Partition, j.Version, j.Status = entity.PartitionOf(j.ID), 1, entity.JobEnabled
	j.CreateTime, j.UpdateTime = now, now
	if j.Schedule.Kind != schedule.None {
		sched, err := n.Schedules.Compile(j.Schedule)
		require.NoError(t, err)
		next, ok := sched.Next(now.Add(-time.Millisecond))
		if j.Schedule.Kind == schedule.FixedDelay {
			next, ok = now, true
		}
		require.True(t, ok, "the schedule fires")
		j.NextFireTime, j.DueTime = next, next.Add(sched.Jitter(j.ID))
	}
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Insert(ctx, j) })
	return j
}

// Write runs a transaction that must succeed, past the faults.
func (n *Node) Write(t testing.TB, fn func(ctx context.Context, tx repository.Tx) error) {
	t.Helper()
	require.NoError(t, n.Store.Write(t.Context(), repository.LaneAPI, "test", fn))
}

// Change edits the stored job, the way another node's API would; with a new
// version where the definition or status changes.
func (n *Node) Change(t testing.TB, id string, change func(j *entity.Job)) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		j, err := tx.Jobs.LockFull(ctx, id)
		if err != nil {
			return err
		}
		change(j)
		return tx.Jobs.Update(ctx, j, false)
	})
}

// Job reads a job.
func (n *Node) Job(t testing.TB, id string) *entity.Job {
	t.Helper()
	j, err := n.Store.Jobs.Get(t.Context(), id)
	require.NoError(t, err)
	return j
}

// Execution reads an execution.
func (n *Node) Execution(t testing.TB, id string) *entity.Execution {
	t.Helper()
	exec, err := n.Store.Executions.Get(t.Context(), id)
	require.NoError(t, err)
	return exec
}

// Executions are a job's executions, or everybody's when id is "", ordered by
// scheduled time, fire key and shard.
func (n *Node) Executions(t testing.TB, id string) []*entity.Execution {
	t.Helper()
	execs, _, err := n.Store.Executions.List(t.Context(), repository.ExecutionFilter{JobID: id},
		repository.Page{Limit: 1000})
	require.NoError(t, err)
	slices.SortFunc(execs, func(a, b *entity.Execution) int {
		if c := a.ScheduledTime.Compare(b.ScheduledTime); c != 0 {
			return c
		}
		if c := strings.Compare(a.FireKey, b.FireKey); c != 0 {
			return c
		}
		return a.ShardIndex - b.ShardIndex
	})
	return execs
}

// InFlightFires are the fires of a job that hold a slot or wait for one, in order.
func (n *Node) InFlightFires(t testing.TB, jobID string) (fires []entity.InFlightFire) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) (err error) {
		fires, err = tx.InFlightFires.Oldest(ctx, []repository.Oldest{
			{JobID: jobID, Active: true, Limit: 100_000}, {JobID: jobID, Limit: 100_000},
		})
		return err
	})
	slices.SortStableFunc(fires, func(a, b entity.InFlightFire) int { return int(a.Seq - b.Seq) })
	return fires
}

// AwaitStatus waits until an execution has a status, and returns it.
func (n *Node) AwaitStatus(t testing.TB, id string, want entity.Status) *entity.Execution {
	t.Helper()
	Await(t, func() bool { return n.Execution(t, id).Status == want }, "run %s becomes %s", id, want)
	return n.Execution(t, id)
}

// Events are the outbox's rows that the rules have not read, oldest first.
func (n *Node) Events(t testing.TB) []entity.Event {
	t.Helper()
	events, err := n.Store.PendingEvents(t.Context(), entity.ReaderRules, 0, 1000)
	require.NoError(t, err)
	return events
}

// Counts notes what the engine counts. Safe for concurrent use.
type Counts struct {
	mu         sync.Mutex
	Duplicates int
	Poisoned   int
	Locked     int
	Refused    int
	Lost       int
	// Ends are attempts whose end was stored.
	Ends int
}

// Fired implements firing.Metrics.
func (c *Counts) Fired(entity.Status, entity.Reason, int) {}

// FireBatch implements firing.Metrics.
func (c *Counts) FireBatch(int, time.Duration) {}

// DuplicateFire implements firing.Metrics.
func (c *Counts) DuplicateFire() { c.add(&c.Duplicates, 1) }

// PoisonFire implements firing.Metrics.
func (c *Counts) PoisonFire() { c.add(&c.Poisoned, 1) }

// LockedFires implements firing.Metrics.
func (c *Counts) LockedFires(n int) { c.add(&c.Locked, n) }

// Started implements running.Metrics.
func (c *Counts) Started(entity.AttemptStart) {}

// Ended implements running.Metrics.
func (c *Counts) Ended(entity.AttemptEnd) { c.add(&c.Ends, 1) }

// CompleteBatch implements running.Metrics.
func (c *Counts) CompleteBatch(int, time.Duration) {}

// RefusedReport implements running.Metrics.
func (c *Counts) RefusedReport() { c.add(&c.Refused, 1) }

// Recovered implements running.Metrics.
func (c *Counts) Recovered(n int) { c.add(&c.Lost, n) }

func (c *Counts) add(to *int, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*to += n
}

// Of reads one of the counts.
func (c *Counts) Of(which func(c *Counts) int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return which(c)
}

// States are status and reason of executions, in their order.
func States(execs []*entity.Execution) []string {
	out := make([]string, len(execs))
	for i, exec := range execs {
		out[i] = string(exec.Status)
		if exec.Reason != entity.ReasonNone {
			out[i] += "(" + string(exec.Reason) + ")"
		}
	}
	return out
}
