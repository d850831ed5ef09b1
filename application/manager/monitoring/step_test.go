package monitoring_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// step is the end of a step of a run of the first job, which is a workflow.
func (d *desk) step(name string, change func(e *entity.Execution)) *entity.Execution {
	return d.end(0, entity.StatusSuccess, func(e *entity.Execution) {
		e.JobID, e.Trigger = wf.StepID(d.jobs[0].ID, name), entity.TriggerDependency
		e.FireKey = identity.StepKey(e.ID, name)
		if change != nil {
			change(e)
		}
	})
}

// The figures of a step over all runs are read by its id, with what is usual for it. Its group is that of its workflow,
// and who may not see that finds no such job. The list of jobs with the most runs has no steps.
func TestFiguresOfAStep(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		id := wf.StepID(d.jobs[0].ID, "load")
		d.write(func(ctx context.Context, tx repository.Tx) error {
			return tx.WorkflowRuns.AddSteps(ctx, []wf.StepRow{{ID: id, WorkflowID: d.jobs[0].ID, Name: "load"}})
		})
		for range 12 {
			d.add(d.step("load", nil))
			d.clock.Advance(time.Minute)
		}
		d.add(d.end(0, entity.StatusSuccess, nil)) // one root
		d.drain(d.fold(d.store))
		service := &statistics.StatisticsService{
			Sums: d.store.Statistics, Baselines: d.store.Statistics, Jobs: d.store.Jobs, Clock: d.clock, Zone: time.UTC,
		}
		ask := func(q statistics.Query) statistics.Statistics {
			got, err := service.Statistics(t.Context(), q)
			require.NoError(t, err)
			return got
		}
		got := ask(statistics.Query{Job: id, Groups: []string{"group-0"}})
		require.EqualValues(t, 12, got.Total.Runs)
		require.NotNil(t, got.Usual, "what is usual for the step is known after ten runs")
		require.Equal(t, 12, got.Usual.Runs)
		require.EqualValues(t, 1, ask(statistics.Query{Job: d.jobs[0].ID}).Total.Runs)
		require.EqualValues(t, 1, ask(statistics.Query{Group: "group-0"}).Total.Runs)
		require.EqualValues(t, 13, ask(statistics.Query{Node: "node-1"}).Total.Runs)
		top := ask(statistics.Query{Top: 5, TopBy: repository.TopRuns})
		require.EqualValues(t, 1, top.Total.Runs)
		require.Len(t, top.Top, 1)
		require.Equal(t, d.jobs[0].ID, top.Top[0].ID)
		for _, q := range []statistics.Query{
			{Job: id, Groups: []string{"group-1"}}, {Job: wf.StepID(d.jobs[0].ID, "other")},
		} {
			_, err := service.Statistics(t.Context(), q)
			require.True(t, apperror.Is(err, apperror.KindNotFound), "%v", err)
		}
	})
}
