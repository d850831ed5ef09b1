package follow_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// The delay of a workflow counts from the end of its run, not from the moment at which the run has opened.
func TestAFixedDelayCountsFromTheEndOfTheRun(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	release := n.Script.Hold()
	job := n.Add(t, flowJob("delay", stepsOf(custom("only", "")), func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 60_000
	}))
	n.Fire(t)
	awaitStarts(t, n, 1)
	root := n.Executions(t, job.ID)[0].ID
	require.True(t, n.Execution(t, root).Open())
	n.Clock.Advance(5 * time.Minute)
	require.Zero(t, n.Job(t, job.ID).NextFireTime, "the run is not over")
	release()
	follow(t, n, root, entity.StatusSuccess)
	require.Equal(t, n.Time.Now().Add(time.Minute), n.Job(t, job.ID).NextFireTime)
}

// A fire under REPLACE cancels the run before it, and waits until that is closed.
func TestAFireReplacesTheRunBeforeIt(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	job := n.Add(t, flowJob("replace", stepsOf(custom("only", ""), custom("next", `"needs": ["only"]`)),
		func(j *entity.Job) { j.Overlap = entity.OverlapReplace }))
	first := fire(t, n, job)
	awaitStarts(t, n, 1)
	second := n.Trigger(t, job.ID)[0].ID
	require.True(t, n.Execution(t, first).CancelRequested)
	require.True(t, n.Execution(t, first).Open(), "its step is live")
	require.Equal(t, entity.StatusWaiting, n.Execution(t, second).Status)
	follow(t, n, first, entity.StatusCancelled)
	require.Equal(t, entity.StatusCancelled, stepRow(t, n, first, job.ID, "only").Status)
	require.Equal(t, entity.ReasonRunCancelled, stepRow(t, n, first, job.ID, "next").Reason)
	byStep(n, nil)
	follow(t, n, second, entity.StatusSuccess)
}

// A step whose retries are used up makes no dead letter: a replay outside of the run would do its work twice.
func TestADeadStepMakesNoDeadLetter(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	byStep(n, map[string]entity.Outcome{"only": entity.Failed(entity.ReasonError, "no")})
	job := n.Add(t, flowJob("dead", stepsOf(custom("only", `"retryPolicy": {"maxRetries": 1}`)), nil))
	root := fire(t, n, job)
	n.Pass(t, func() bool {
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		_, err = n.Flow.RunOnce(t.Context(), n.Time.Now())
		require.NoError(t, err)
		return n.Execution(t, root).Status.Final()
	}, "the run ends")
	require.Equal(t, entity.StatusFailed, n.Execution(t, root).Status)
	step := stepRow(t, n, root, job.ID, "only")
	require.Equal(t, []any{entity.StatusDead, 2}, []any{step.Status, step.Attempt})
	letters, _, err := n.Store.DeadLetters(t.Context(), repository.DeadLetterFilter{}, repository.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, letters)
}

// Retention takes no step of a run that is open, however old, and none before its run has been closed for that long.
func TestRetentionKeepsTheStepsOfAnOpenRun(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	release := n.Script.Hold()
	job := n.Add(t, flowJob("old", stepsOf(`{"name": "off", "when": "params.day == 8", "custom": {"jobClass": "noop"}}`,
		custom("long", "")), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 1)
	require.True(t, stepRow(t, n, root, job.ID, "off").Status.Final())
	purge := func() int {
		purged, err := n.Store.PurgeExecutions(t.Context(), n.Time.Now().AddDate(0, 0, -30), 100)
		require.NoError(t, err)
		return purged.Deleted
	}
	n.Clock.Advance(40 * 24 * time.Hour)
	require.Zero(t, purge(), "the run is open")
	release()
	follow(t, n, root, entity.StatusSuccess)
	require.Zero(t, purge(), "the run was closed just now")
	n.Clock.Advance(31 * 24 * time.Hour)
	require.Equal(t, 3, purge())
	runs, err := n.Store.WorkflowRuns(t.Context(), []string{root})
	require.NoError(t, err)
	require.Empty(t, runs)
}

// Runs that open together share transactions of a bounded size.
func TestATransactionAddsABoundedNumberOfSteps(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	const runs, wide = 12, 100
	steps := make([]string, wide)
	for i := range steps {
		steps[i] = custom(fmt.Sprint("s", i), "")
	}
	job := n.Add(t, flowJob("wide", stepsOf(steps...), nil))
	var roots []string
	for range runs {
		roots = append(roots, fire(t, n, job))
	}
	enginetest.Await(t, func() bool { return len(owed(t, n)) == runs }, "all runs are to open")
	transactions := 0
	n.Faults.Before(func(name string) {
		if name == "follow-run" {
			transactions++
		}
	})
	_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
	require.NoError(t, err)
	require.Equal(t, 3, transactions, "of five runs, five and two")
	n.Faults.Before(nil)
	require.Empty(t, owed(t, n))
	for _, root := range roots {
		require.NotNil(t, stepRow(t, n, root, job.ID, "s99"))
	}
}
