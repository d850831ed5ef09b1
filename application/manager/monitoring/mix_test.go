package monitoring_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// counted are the figures that rows of executions tell without any digest.
type counted struct {
	Runs, Success, Failed, Timeout, Cancelled, Dead, Skipped, Retries, DurationMs int64
}

// countRows counts the final rows of one job.
func countRows(execs []*entity.Execution) (c counted) {
	fires := map[string][]*entity.Execution{}
	for _, e := range execs {
		key := e.ID
		if e.ShardTotal > 1 && !e.IsRange() {
			key = e.FireKey
		}
		fires[key] = append(fires[key], e)
	}
	for _, shards := range fires {
		var states []entity.Status
		retries, slowest := 0, time.Duration(0)
		for _, e := range shards {
			states = append(states, e.Status)
			if retries += e.RetryCount; !e.StartTime.IsZero() {
				slowest = max(slowest, e.Duration)
			}
		}
		first := shards[0]
		state := entity.Fold(states)
		if whole := len(shards) == first.ShardTotal || first.IsRange() || state == entity.StatusSkipped; !whole ||
			!state.Final() {
			continue
		}
		if state == entity.StatusSkipped {
			c.Skipped += int64(max(first.SkipCount, 1))
			continue
		}
		c.Runs++
		c.Retries += int64(retries)
		c.DurationMs += slowest.Milliseconds()
		switch state {
		case entity.StatusSuccess:
			c.Success++
		case entity.StatusFailed:
			c.Failed++
		case entity.StatusTimeout:
			c.Timeout++
		case entity.StatusCancelled:
			c.Cancelled++
		case entity.StatusDead:
			c.Dead++
		}
	}
	return c
}

// After a mix of all that ends executions, with commits that get lost, the statistics
// of each job equal its rows.
func TestStatisticsEqualTheRows(t *testing.T) {
	eachInBubble(t, func(t *testing.T, cfg persistence.Config) {
		seed := randtest.Seed(t)
		r := rand.New(rand.NewPCG(seed, 1))
		n, jobs := mixed(t, cfg)
		ends := []string{"complete", "fire", "claim", "unpark", "repair"}
		n.Script.Reply(outcomes(n, seed))
		n.Start(t)
		fold := monitoring.NewFold(monitoring.FoldDeps{
			Store: n.Faults, Digests: n.Store.Statistics, Clock: n.Clock, StoreClock: n.Time, Zone: time.UTC,
			Logger: slog.New(slog.DiscardHandler),
		})
		for range 150 {
			job := jobs[r.IntN(len(jobs))]
			if r.IntN(5) == 0 {
				n.Faults.Next(ends[r.IntN(len(ends))],
					[]enginetest.Fault{enginetest.LostReply, enginetest.LostCommit, enginetest.Deadlock}[r.IntN(3)])
				n.Faults.Next(steps[r.IntN(len(steps))], enginetest.LostReply)
			}
			switch r.IntN(6) {
			case 0, 1:
				n.Trigger(t, job.ID)
			case 2:
				n.Clock.Advance(time.Duration(r.IntN(90)) * time.Second)
				_, _ = n.Planner.Scan(t.Context())
				_, _ = n.Planner.FireDue(t.Context())
			case 3:
				_, _ = n.Repairs.PromoteScheduled(t.Context())
				_, _ = n.Repairs.SweepDeadlines(t.Context())
			case 4:
				_, _, _ = n.Closer.CloseWaiting(t.Context(), repository.LaneAPI, waiting(n, t, job.ID),
					func(exec *entity.Execution, now time.Time) error { return exec.Cancel(entity.ReasonNone, now) },
					func(*entity.Execution, time.Time) bool { return true })
			case 5:
				_, _ = fold.RunOnce(t.Context())
			}
		}
		finish(t, n)
		for range 100 {
			n.Clock.Advance(11 * time.Second)
			_, _ = fold.RunOnce(t.Context())
		}
		seen := counted{}
		for _, job := range jobs {
			want := countRows(allOf(t, n, job.ID))
			require.Equal(t, want, storedOf(t, n.Store, job.ID), job.Name)
			seen.Runs += want.Runs
			seen.Skipped += want.Skipped
			seen.Failed += want.Failed + want.Dead
			seen.Cancelled += want.Cancelled
		}
		t.Logf("%+v", seen)
		require.Positive(t, min(seen.Runs, seen.Skipped, seen.Failed), "the mix is one")
	})
}

// eachInBubble is dbtest.Each with a bubble for each store.
func eachInBubble(t *testing.T, test func(t *testing.T, cfg persistence.Config)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		synctest.Test(t, func(t *testing.T) { test(t, cfg) })
	})
}

// outcomes are those of the runs of each job, in the order of their beginnings; the seed decides them.
func outcomes(n *enginetest.Node, seed uint64) enginetest.Reply {
	var mu sync.Mutex
	began := map[string]*rand.Rand{}
	return func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		mu.Lock()
		r := began[run.Job.Name]
		if r == nil {
			r = rand.New(rand.NewPCG(seed, uint64(len(run.Job.Name))<<8|uint64(run.Job.Name[len(run.Job.Name)-1])))
			began[run.Job.Name] = r
		}
		what, after := r.IntN(4), time.Duration(r.IntN(300))*time.Millisecond
		mu.Unlock()
		switch what {
		case 0:
			return entity.Failed(entity.ReasonError, "no")
		case 1:
			n.Clock.Advance(after)
		}
		return entity.Succeeded("")
	}
}

// mixed is a node with jobs of every kind.
func mixed(t *testing.T, cfg persistence.Config) (*enginetest.Node, []*entity.Job) {
	n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{
		Ends: []event.EndObserver{monitoring.NewDigests(slog.Default())}, Slots: 8,
	})
	var jobs []*entity.Job
	for i, change := range []func(j *entity.Job){
		nil,
		enginetest.Every(20 * time.Second),
		func(j *entity.Job) { j.ShardCount = 3 },
		func(j *entity.Job) { enginetest.Every(30 * time.Second)(j); j.ShardCount = 2; j.Retry.MaxRetries = 1 },
		func(j *entity.Job) { j.Overlap = entity.OverlapDiscard },
		func(j *entity.Job) { j.Overlap = entity.OverlapReplace },
		func(j *entity.Job) { j.StartDeadlineSec = 1; j.Overlap = entity.OverlapSerial },
		func(j *entity.Job) {
			enginetest.Every(time.Second)(j)
			j.Misfire.Policy, j.Misfire.ThresholdSec = entity.MisfireSkip, 1
		},
		func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 2, 100 },
		func(j *entity.Job) {
			enginetest.Every(40 * time.Second)(j)
			j.ShardCount, j.Overlap = 3, entity.OverlapDiscard
		},
	} {
		jobs = append(jobs, n.Add(t, enginetest.Job(fmt.Sprint("job-", i), change)))
	}
	return n, jobs
}

func waiting(n *enginetest.Node, t *testing.T, job string) (out []*entity.Execution) {
	for _, e := range allOf(t, n, job) {
		if e.Status == entity.StatusWaiting && e.Attempt == 0 {
			out = append(out, e)
		}
	}
	return out
}

// finish lets all that was begun end: what waits for too long is ended by a sweep, as on a leader.
func finish(t *testing.T, n *enginetest.Node) {
	t.Helper()
	n.Pass(t, func() bool {
		_, _ = n.Repairs.PromoteScheduled(t.Context())
		_, _ = n.Repairs.SweepDeadlines(t.Context())
		_, _ = n.Repairs.SweepSlots(t.Context())
		_ = n.Runner.Reconcile(t.Context())
		var live []*entity.Execution
		for _, status := range []entity.Status{entity.StatusWaiting, entity.StatusRunning} {
			execs, _, err := n.Store.Executions.List(t.Context(), repository.ExecutionFilter{Status: status},
				repository.Page{Limit: 1})
			require.NoError(t, err)
			live = append(live, execs...)
		}
		return len(live) == 0
	}, "all runs end")
}

// allOf are all rows of a job.
func allOf(t *testing.T, n *enginetest.Node, job string) (all []*entity.Execution) {
	t.Helper()
	page := repository.Page{Limit: 500}
	for {
		execs, next, err := n.Store.Executions.List(t.Context(), repository.ExecutionFilter{JobID: job}, page)
		require.NoError(t, err)
		if all = append(all, execs...); next == "" {
			return all
		}
		page.Cursor = next
	}
}

// storedOf is what the statistics tell of a job.
func storedOf(t *testing.T, s *persistence.Store, job string) (c counted) {
	t.Helper()
	id, _ := identity.Bytes(job)
	rows, err := s.Statistics.SumRows(t.Context(), repository.SumsQuery{Job: id, Hours: always, Days: always})
	require.NoError(t, err)
	sum := statistics.Row{}
	for _, row := range rows {
		sum.Merge(row.Row)
	}
	return counted{
		sum.Runs, sum.Success, sum.Failed, sum.Timeout, sum.Cancelled, sum.Dead, sum.Skipped, sum.Retries, sum.DurationMs,
	}
}
