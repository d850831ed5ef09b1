package trial_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// run is what a desk does with the runs of drafts.
type run func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome

func (r run) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	return r(ctx, run, rep)
}

// anything finds no draft wrong.
type anything struct{}

func (anything) CheckDraft(_ context.Context, _ *entity.Job, given string) (string, error) {
	return given, nil
}

func newTrials(t *testing.T, r run) (*trial.Trials, *clocktest.Manual) {
	t.Helper()
	c := clocktest.NewManual(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	trials := trial.New(trial.Deps{Checker: anything{}, Runner: r, Clock: c, StoreClock: c, NodeID: "node-1"})
	t.Cleanup(func() { trials.Stop(context.Background()) })
	return trials, c
}

// untilStopped waits for the end of its context and says why it came.
func untilStopped(began chan<- struct{}) run {
	return func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
		began <- struct{}{}
		<-ctx.Done()
		return entity.Failed(entity.ReasonError, context.Cause(ctx).Error())
	}
}

func TestATrialIsARunOfItsOwn(t *testing.T) {
	draft := &entity.Job{Name: "draft", Type: entity.JobCustom, TimeoutSec: 3}
	trials, c := newTrials(t, func(_ context.Context, r entity.Run, rep entity.Reporter) entity.Outcome {
		require.Equal(t, entity.TriggerManual, r.Execution.Trigger)
		require.Equal(t, `{"a":1}`, r.Execution.Params)
		require.Equal(t, []int{1, 1}, []int{r.Execution.Attempt, r.Execution.ShardTotal})
		require.Equal(t, 3*time.Second, r.Deadline.Sub(r.Execution.StartTime))
		require.NotEmpty(t, r.Execution.ID)
		require.Nil(t, r.Tokens, "nobody can report about a run that is not stored")
		rep.Log(entity.LogStdout, "one\ntwo\x07")
		return entity.Succeeded("done")
	})
	r, err := trials.Run(t.Context(), "ann", draft, `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, entity.StatusSuccess, r.Outcome.Status)
	require.Equal(t, []string{"node-1", "done"}, []string{r.NodeID, r.Outcome.Result})
	require.Equal(t, []trial.Line{
		{Time: c.Now(), Stream: entity.LogStdout, Text: "one"}, {Time: c.Now(), Stream: entity.LogStdout, Text: "two\uFFFD"},
	}, r.Log)
	require.False(t, r.Truncated)
	require.Empty(t, draft.ID, "the draft stays as it is")
}

// A draft for workers is no trial of this node (V27).
func TestADraftForWorkersIsRefused(t *testing.T) {
	trials, _ := newTrials(t, func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
		t.Error("it ran here")
		return entity.Outcome{}
	})
	_, err := trials.Run(t.Context(), "ann", &entity.Job{Routing: entity.Routing{Workers: "shop"}}, "")
	require.ErrorContains(t, err, "trigger it with params")
}

func TestATrialEnds(t *testing.T) {
	for what, c := range map[string]struct {
		end  func(t *trial.Trials, c *clocktest.Manual, leave func())
		says error
	}{
		"when its time is over": {
			func(_ *trial.Trials, c *clocktest.Manual, _ func()) { c.Advance(trial.MaxTime) }, entity.ErrStopTimeout,
		},
		"when its node stops": {
			func(t *trial.Trials, _ *clocktest.Manual, _ func()) { t.Stop(context.Background()) }, entity.ErrStopShutdown,
		},
		"when its caller goes away": {
			func(_ *trial.Trials, _ *clocktest.Manual, leave func()) { leave() }, context.Canceled,
		},
	} {
		t.Run(what, func(t *testing.T) {
			began := make(chan struct{})
			trials, manual := newTrials(t, untilStopped(began))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			ended := make(chan *trial.Result, 1)
			go func() {
				r, err := trials.Run(ctx, "ann", &entity.Job{TimeoutSec: 3600}, "")
				if err == nil {
					ended <- r
				}
				close(ended)
			}()
			<-began
			c.end(trials, manual, leave)
			r := <-ended
			require.NotNil(t, r)
			require.Equal(t, c.says.Error(), r.Outcome.Message)
		})
	}
}

func TestANodeRunsFewTrialsAtOnce(t *testing.T) {
	began := make(chan struct{})
	trials, _ := newTrials(t, untilStopped(began))
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range trial.AtOnce {
		user := []string{"ann", "bob"}[i/trial.UserAtOnce]
		all.Go(func() { _, _ = trials.Run(ctx, user, &entity.Job{}, "") })
		<-began
		if i+1 == trial.UserAtOnce {
			_, err := trials.Run(t.Context(), "ann", &entity.Job{}, "")
			require.ErrorContains(t, err, "the most of one user")
		}
	}
	_, err := trials.Run(t.Context(), "cat", &entity.Job{}, "")
	require.True(t, apperror.Is(err, apperror.KindTooMany), err)
	leave()
	all.Wait()
	last := make(chan error, 1)
	go func() {
		_, err := trials.Run(t.Context(), "ann", &entity.Job{}, "")
		last <- err
	}()
	<-began // there is room again
	trials.Stop(t.Context())
	require.NoError(t, <-last)
	_, err = trials.Run(t.Context(), "ann", &entity.Job{}, "")
	require.True(t, apperror.Is(err, apperror.KindUnavailable), "none begins on a node that stops")
}

// A handler that does not stop holds up no node.
func TestAStopWaitsForTrialsNoLongerThanItMay(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	trials, _ := newTrials(t, func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
		close(began)
		<-release
		return entity.Succeeded("")
	})
	var call sync.WaitGroup
	call.Go(func() { _, _ = trials.Run(t.Context(), "ann", &entity.Job{}, "") })
	<-began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	trials.Stop(over)
	close(release)
	call.Wait()
}

func TestANodeWithoutExecutorRunsNoTrial(t *testing.T) {
	_, err := trial.New(trial.Deps{Checker: anything{}}).Run(t.Context(), "ann", &entity.Job{}, "")
	require.True(t, apperror.Is(err, apperror.KindUnavailable), err)
}

func TestTheLogOfATrialIsBounded(t *testing.T) {
	trials, _ := newTrials(t, func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
		for range 100 {
			rep.Log(entity.LogStdout, strings.Repeat("x", entity.MaxLogLine))
		}
		rep.Log(entity.LogStdout, strings.Repeat("\n", 1<<20))
		return entity.NotBegun(time.Second, "its host is busy")
	})
	r, err := trials.Run(t.Context(), "ann", &entity.Job{}, "")
	require.NoError(t, err)
	require.True(t, r.Truncated)
	total := 0
	for _, line := range r.Log {
		total += len(line.Text)
	}
	require.Less(t, total, 256<<10)
	require.Greater(t, total, 200<<10)
	require.Equal(t, entity.StatusFailed, r.Outcome.Status, "a trial does not wait")
	require.Equal(t, "its host is busy", r.Outcome.Message)
}
