package firing_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// overlaps are a job that knows nothing of its other fires, and one that does.
var overlaps = map[string]entity.OverlapPolicy{"plain": entity.OverlapParallel, "coordinated": entity.OverlapSerial}

// eachStore runs a test with a node on every kind of store, for what locks and
// keys of the store decide. Each node lives in a bubble.
func eachStore(t *testing.T, o enginetest.Options, test func(t *testing.T, n *enginetest.Node)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		synctest.Test(t, func(t *testing.T) { test(t, enginetest.On(t, dbtest.Open(t, cfg), o)) })
	})
}

// second is the n-th second after the clocks begin.
func second(n int) time.Time { return enginetest.Noon.Add(time.Duration(n) * time.Second) }

// everySecond is a job that is due at Noon and each second after.
func everySecond(change func(j *entity.Job)) *entity.Job {
	return enginetest.Job("each second", func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		if change != nil {
			change(j)
		}
	})
}

// addMany stores jobs that are due at Noon for the first time.
func addMany(t *testing.T, n *enginetest.Node, count int, change func(i int, j *entity.Job)) []*entity.Job {
	t.Helper()
	jobs := make([]*entity.Job, count)
	for i := range jobs {
		j := everySecond(func(j *entity.Job) {
			if change != nil {
				change(i, j)
			}
		})
		j.Name = j.Name + " " + time.Duration(i).String()
		jobs[i] = n.Add(t, j)
	}
	return jobs
}

// atNoon is the fire of a job that is due at Noon for the first time.
func atNoon() entity.Fire {
	return entity.PlannedFire(second(0), second(0), entity.TriggerSchedule)
}

// scan looks once at what is due.
func scan(t *testing.T, n *enginetest.Node) {
	t.Helper()
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
}

// fireOnce fires one batch of what is due and returns its error.
func fireOnce(t *testing.T, n *enginetest.Node) error {
	t.Helper()
	return fireIn(t.Context(), t, n)
}

// fireIn fires once, as long as ctx lasts.
func fireIn(ctx context.Context, t *testing.T, n *enginetest.Node) error {
	t.Helper()
	scan(t, n)
	_, err := n.Planner.FireDue(ctx)
	return err
}

// scheduledTimes are the scheduled times of executions, in seconds after Noon.
func scheduledTimes(execs []*entity.Execution) []int {
	out := make([]int, len(execs))
	for i, exec := range execs {
		out[i] = int(exec.ScheduledTime.Sub(enginetest.Noon) / time.Second)
	}
	return out
}

// insertRow stores an execution as if it had been recorded before.
func insertRow(t *testing.T, n *enginetest.Node, exec *entity.Execution) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{exec})
	})
}

// slotsInUse are the slots of the node that are taken.
func slotsInUse(n *enginetest.Node) int {
	used, _ := n.Runner.Load(entity.SlotGeneral)
	return used
}

// duplicates are the fires that were in the store before, as counted.
func duplicates(n *enginetest.Node) int {
	return n.Counts.Of(func(c *enginetest.Counts) int { return c.Duplicates })
}

// insertStore calls before with the executions that a transaction of that name is
// about to insert; with an error it inserts none. Without a name it means them all.
type insertStore struct {
	repository.Store
	name   string
	before func(execs []*entity.Execution) error
}

func (s insertStore) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return s.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		if s.name == "" || s.name == name {
			tx.Executions = insertWriter{tx.Executions, s.before}
		}
		return fn(ctx, tx)
	})
}

type insertWriter struct {
	repository.ExecutionWriter
	before func(execs []*entity.Execution) error
}

func (w insertWriter) Insert(ctx context.Context, execs []*entity.Execution) error {
	if err := w.before(execs); err != nil {
		return err
	}
	return w.ExecutionWriter.Insert(ctx, execs)
}

func anyOf(execs []*entity.Execution, jobID string) bool {
	return slices.ContainsFunc(execs, func(exec *entity.Execution) bool { return exec.JobID == jobID })
}

// awaitIdle waits until every slot is free again.
func awaitIdle(t *testing.T, n *enginetest.Node) {
	t.Helper()
	enginetest.Await(t, func() bool { return slotsInUse(n) == 0 }, "all slots are given back")
}
