package explain_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// chainDesk is a desk whose ends owe, and what pays it.
func chainDesk(t *testing.T) (*servicetest.Desk, *workflow.Follower) {
	var n *enginetest.Node
	n = enginetest.New(t, enginetest.Options{Ends: []event.EndObserver{workflow.Owed{
		Cached: func(id string, version int) *entity.Job { return n.Jobs.Cached(id, version) },
	}}})
	return servicetest.On(t, n), workflow.New(workflow.Deps{
		Store: n.Faults, Todos: n.Store, Executions: n.Store.Executions, Jobs: n.Jobs, Versions: n.Store.Jobs,
		Admitter: n.Admitter, Commits: n.Commits, Clock: n.Clock, StoreClock: n.Time, Leads: func() bool { return true },
		Note: func(error) {}, Logger: slog.New(slog.DiscardHandler),
	})
}

// ended makes a run succeed, and stores what its end owes.
func ended(d *servicetest.Desk, id string) {
	d.T.Helper()
	d.Finish(id, entity.StatusSuccess, "")
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		return d.Admitter.RecordEnds(ctx, tx, d.Time.Now(), rows)
	})
}

// Each way in which a job follows another one, or does not, is told on both sides.
func TestWhyTellsOfChains(t *testing.T) {
	d, follower := chainDesk(t)
	plain := func(name string, next ...entity.Next) *entity.Job {
		return d.Create(enginetest.Job(name, func(j *entity.Job) { j.Next = next }))
	}
	runs, paused, gone, failed := plain("runs"), plain("paused"), plain("gone"), plain("failed")
	lacking := d.Create(enginetest.Job("lacking", func(j *entity.Job) {
		j.Parameters = []entity.JobParameter{{Name: "day", Type: entity.ParameterString, Required: true}}
	}))
	first := d.Create(every(func(j *entity.Job) {
		j.Name = "first"
		for _, n := range []*entity.Job{runs, paused, gone, lacking} {
			j.Next = append(j.Next, entity.Next{Name: n.Name, On: entity.NextOnSuccess})
		}
		j.Next = append(j.Next, entity.Next{Name: failed.Name, On: entity.NextOnFailure})
	}))
	_, err := d.Jobs.Pause(t.Context(), paused.ID, entity.Pause{})
	require.NoError(t, err)
	require.NoError(t, d.Jobs.Delete(t.Context(), gone.ID, 0))
	d.After(10 * time.Second)
	run := d.Rows(first.ID)[0]
	d.Clock.Advance(5 * time.Minute) // so that the ends stand elsewhere in the ledger than the scheduled times
	ended(d, run.ID)
	at := run.ScheduledTime

	_, facts := asked(t, d, explain.Query{JobID: first.ID, At: at})
	require.Contains(t, facts, "its end is to start the job runs, which has not happened yet")
	_, facts = asked(t, d, explain.Query{JobID: runs.ID, At: at})
	require.Contains(t, facts, "it follows the job first, at an end as SUCCESS; the fire of that job of "+
		"2026-11-20 12:00:10Z: SUCCESS")

	_, err = follower.RunOnce(t.Context(), d.Time.Now())
	require.NoError(t, err)
	_, facts = asked(t, d, explain.Query{JobID: first.ID, At: at})
	next := d.Rows(runs.ID)[0]
	for _, want := range []string{
		"its end started the run " + next.ID + " of the job runs, which is WAITING",
		"its end was to start the job paused, which did not run: PAUSED",
		"its end was to start the job gone, which did not run: DELETED",
		"its end was to start the job lacking, which did not run: INVALID",
		"it did not start the job failed, which follows an end as FAILURE: it ended as SUCCESS",
	} {
		require.Contains(t, facts, want)
	}
	require.Contains(t, facts, "params.day")
	for _, moment := range []time.Time{at, d.Time.Now().Add(-time.Second), {}} {
		a, facts := asked(t, d, explain.Query{JobID: runs.ID, At: moment})
		require.Equal(t, explain.Waiting, a.Verdict, moment)
		require.Equal(t, run.ID, a.Fire.StartedBy)
		require.Contains(t, facts, "it was started by the run "+run.ID+" of the job first, which ended as SUCCESS")
	}
	a, facts := asked(t, d, explain.Query{JobID: failed.ID, At: at})
	require.Equal(t, explain.NotPlanned, a.Verdict)
	require.Contains(t, facts, "it follows the job first, at an end as FAILURE; the fire of that job of")
}

// Runs of groups that the caller does not see are not told of.
func TestWhyTellsNothingOfChainsInGroupsThatTheCallerDoesNotSee(t *testing.T) {
	d, follower := chainDesk(t)
	last := d.In("secret", "last", nil)
	first := d.Create(enginetest.Job("first", func(j *entity.Job) {
		j.Next = []entity.Next{{Name: "secret/last", On: entity.NextOnEnd}}
	}))
	id := d.Trigger(first.ID)[0]
	ended(d, id)
	_, err := follower.RunOnce(t.Context(), d.Time.Now())
	require.NoError(t, err)
	require.Len(t, d.Rows(last.ID), 1)
	for _, sees := range []bool{true, false} {
		from, to := explain.Query{JobID: first.ID}, explain.Query{JobID: last.ID}
		from.SeesRunsOf = func(string) bool { return sees }
		to.SeesRunsOf = from.SeesRunsOf
		_, facts := asked(t, d, to)
		require.Equal(t, sees, strings.Contains(facts, "first"), facts)
	}
}
