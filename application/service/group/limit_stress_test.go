package group_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// gauge counts the fires that are inside an executor, of all nodes, and keeps
// what was too many. Safe for concurrent use.
type gauge struct {
	mu     sync.Mutex
	limits map[string]int
	inside map[string]map[string]int
	peak   map[string]int
	runs   int
}

func newGauge(limits map[string]int) *gauge {
	return &gauge{limits: limits, inside: map[string]map[string]int{}, peak: map[string]int{}}
}

// step moves a fire's run in (1) or out (-1) of a group or job.
func (g *gauge) step(of, fire string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside[of] == nil {
		g.inside[of] = map[string]int{}
	}
	if g.inside[of][fire] += by; g.inside[of][fire] == 0 {
		delete(g.inside[of], fire)
	}
	g.peak[of] = max(g.peak[of], len(g.inside[of]))
	g.runs += max(by, 0)
}

// rig is three nodes on one store, each with its services, and jobs of every
// policy in one group with a limit.
type rig struct {
	t     *testing.T
	desks []*desk
	jobs  []*entity.Job
	gauge *gauge
	// random makes the choices of all nodes.
	random *rand.Rand
}

const groupLimit = 4

func newRig(t *testing.T, cfg persistence.Config) *rig {
	n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{Slots: 8})
	r := &rig{t: t, random: randtest.New(t)}
	for _, node := range n.Join(t, enginetest.Options{Slots: 8}, enginetest.Options{Slots: 8}) {
		r.desks = append(r.desks, &desk{servicetest.On(t, node)})
	}
	d := r.desks[0]
	d.Grouped(groupLimit)
	limits := map[string]int{"g": groupLimit}
	for i, change := range []func(j *entity.Job){
		func(*entity.Job) {},
		func(j *entity.Job) { j.ShardCount, j.MaxConcurrency = 3, 2 },
		func(j *entity.Job) { j.Overlap = entity.OverlapSerial },
		func(j *entity.Job) { j.Overlap = entity.OverlapReplace },
		func(j *entity.Job) { j.Overlap, j.MaxConcurrency = entity.OverlapDiscard, 2 },
		func(j *entity.Job) {
			j.Class, j.Retry = "fail", entity.RetryPolicy{MaxRetries: 2, Backoff: entity.BackoffFixed, IntervalMs: 1000}
		},
		func(j *entity.Job) { j.Priority, j.Routing.Strategy = 9, entity.RouteRoundRobin },
		enginetest.Every(time.Second),
	} {
		job := d.In("g", fmt.Sprintf("job %d", i), change)
		r.jobs = append(r.jobs, job)
		if job.FireLimit() > 0 {
			limits[job.ID] = job.FireLimit()
		}
	}
	r.gauge = newGauge(limits)
	for _, d := range r.desks {
		d.Script.Reply(r.play)
		d.Start(t)
	}
	return r
}

// play is one attempt: a moment of work, which now and then fails.
func (r *rig) play(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	fire := run.Execution.JobID + run.Execution.FireKey
	r.gauge.step("g", fire, 1)
	defer r.gauge.step("g", fire, -1)
	r.gauge.step(run.Execution.JobID, fire, 1)
	defer r.gauge.step(run.Execution.JobID, fire, -1)
	select {
	case <-ctx.Done():
		return enginetest.Stopped(ctx)
	case <-time.After(time.Duration(r.random.IntN(12)) * time.Millisecond):
	}
	if run.Job.Class == "fail" && r.random.IntN(2) == 0 {
		return entity.Failed(entity.ReasonError, "by lot")
	}
	return entity.Succeeded("")
}

// act does one thing at random on a node, as a user or a task would.
func (r *rig) act(d *desk) error {
	ctx := r.t.Context()
	job := r.jobs[r.random.IntN(len(r.jobs))]
	switch r.random.IntN(10) {
	case 0:
		rows, _, err := d.Store.Executions.List(ctx, repository.ExecutionFilter{JobID: job.ID}, repository.Page{Limit: 10})
		if err != nil || len(rows) == 0 {
			return err
		}
		err = d.Executions.Cancel(ctx, rows[r.random.IntN(len(rows))].ID)
		if apperror.Is(err, apperror.KindConflict) {
			return nil
		}
		return err
	case 1:
		d.Clock.Advance(time.Second)
		if _, err := d.Planner.Scan(ctx); err != nil {
			return err
		}
		_, err := d.Planner.FireDue(ctx)
		return err
	case 2:
		_, err := d.Repairs.SweepLimits(ctx)
		return err
	case 3:
		_, err := d.Groups.Limit(ctx, "g", 1+r.random.IntN(groupLimit), 0)
		return err
	case 4:
		_, err := d.Jobs.Replace(ctx, job.ID, job, 0, 0)
		return err
	default:
		_, err := d.Jobs.Trigger(ctx, job.ID, jobs.Trigger{Source: entity.TriggerManual, DelaySec: r.random.IntN(8) / 7})
		return err
	}
}

// watch reads what runs until it is told to stop, and returns the most fires
// that it saw at one moment.
func (r *rig) watch(stop <-chan struct{}) (most, looks int) {
	d := r.desks[0]
	for {
		select {
		case <-stop:
			return most, looks
		case <-time.After(2 * time.Millisecond):
		}
		rows, _, err := d.Store.Executions.List(r.t.Context(), repository.ExecutionFilter{Status: entity.StatusRunning},
			repository.Page{Limit: 1000})
		if err != nil {
			continue
		}
		fires := map[string]bool{}
		for _, row := range rows {
			fires[row.JobID+row.FireKey] = true
		}
		most, looks = max(most, len(fires)), looks+1
	}
}

// Several nodes fire, finish, cancel, edit and change the limit at random: at no
// moment does more run than a limit allows, of the group or of a job, and in the
// end nothing is stuck.
func TestLimitsHoldOverNodesThatDoEverythingAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		r := newRig(t, cfg)
		stop := make(chan struct{})
		var watcher, actors sync.WaitGroup
		var most, looks int
		watcher.Go(func() { most, looks = r.watch(stop) })
		errs := make([]error, len(r.desks))
		for i, d := range r.desks {
			actors.Go(func() {
				for range 120 {
					if errs[i] = r.act(d); errs[i] != nil {
						return
					}
				}
			})
		}
		actors.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		r.quiet()
		close(stop)
		watcher.Wait()
		require.LessOrEqual(t, most, groupLimit, "as the store has it")
		for of, limit := range r.gauge.limits {
			require.LessOrEqual(t, r.gauge.peak[of], limit, "fires of %s at once", of)
		}
		require.GreaterOrEqual(t, most, 2, "fires ran side by side")
		require.Zero(t, r.desks[0].Slots("g"))
		t.Logf("%d attempts; at most %d fires of %d at once in the store over %d looks", r.gauge.runs, most, groupLimit,
			looks)
	})
}

// quiet ends the planning and waits until every run is over.
func (r *rig) quiet() {
	r.t.Helper()
	d := r.desks[0]
	_, err := d.Jobs.Pause(r.t.Context(), r.jobs[len(r.jobs)-1].ID, entity.Pause{})
	require.NoError(r.t, err)
	d.Pass(r.t, func() bool {
		first, err := d.Store.First(r.t.Context(), "", "~")
		return err == nil && first == ""
	}, "every run ends")
}
