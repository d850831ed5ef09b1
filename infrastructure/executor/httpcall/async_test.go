package httpcall_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// desk issues tokens as the test says.
type desk func(ctx context.Context, run entity.Run) (string, error)

// Issue implements entity.RunTokens.
func (d desk) Issue(ctx context.Context, run entity.Run) (string, error) { return d(ctx, run) }

func token(context.Context, entity.Run) (string, error) { return "token-of-the-attempt", nil }

// async calls a target that reports later.
func async(ctx context.Context, t *testing.T, tokens entity.RunTokens, url string, timeoutSec int) entity.Outcome {
	t.Helper()
	s := open()
	s.Reports, s.BaseURL = true, "https://scheduler.example"
	x := httpcall.New(clock.NewSystem(), s)
	defer x.Close()
	run := newRun(t, data{"url": url, "method": "POST", "async": true})
	run.Job.TimeoutSec, run.Tokens = timeoutSec, tokens
	return x.Run(ctx, run, &executortest.Recorder{})
}

const accepted = http.StatusAccepted

func TestAnAcceptedRunGoesOnWithoutTheNode(t *testing.T) {
	issued := false
	var got http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.True(t, issued, "a target may report before it has answered")
		got = r.Header
		w.WriteHeader(accepted)
	})
	outcome := async(t.Context(), t, desk(func(_ context.Context, run entity.Run) (string, error) {
		require.Equal(t, "execution-1", run.Execution.ID)
		issued = true
		return token(t.Context(), run)
	}), s.URL, 10)
	require.Equal(t, entity.Accepted(), outcome)
	require.True(t, outcome.Detached())
	require.Equal(t, "token-of-the-attempt", got.Get("X-Scheduler-Run-Token"))
	require.Equal(t, "/api/v1/executions/execution-1/report", got.Get("X-Scheduler-Report-Path"))
	require.Equal(t, "https://scheduler.example/api/v1/executions/execution-1/report", got.Get("X-Scheduler-Report-Url"))
}

// A call whose answer is the end has nothing to report.
func TestASynchronousCallGetsNoToken(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Run-Token", "Report-Path", "Report-Url"} {
			require.Empty(t, r.Header.Get("X-Scheduler-"+name))
		}
		w.WriteHeader(accepted)
	})
	run := newRun(t, data{"url": s.URL})
	run.Tokens = desk(func(context.Context, entity.Run) (string, error) { return "", errors.New("nobody asked") })
	require.Equal(t, entity.Succeeded(""), httpcall.New(clock.NewSystem(), open()).Run(t.Context(), run,
		&executortest.Recorder{}))
}

// The answer of the target decides whether it took the run.
func TestATargetThatRefusesDidNotTakeTheRun(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	require.Equal(t, entity.ReasonHTTPStatus, async(t.Context(), t, desk(token), s.URL, 10).Reason)
}

// A target that nobody would hear is not called.
func TestNothingIsSentWithoutAToken(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the target was called") })
	o := async(t.Context(), t, desk(func(context.Context, entity.Run) (string, error) {
		return "", entity.ErrStopLost
	}), s.URL, 10)
	require.Equal(t, entity.StatusFailed, o.Status)
	require.Contains(t, o.Message, entity.ErrStopLost.Error())
	require.Equal(t, entity.StatusFailed, async(t.Context(), t, nil, s.URL, 10).Status)
	ctx, cancel := context.WithCancelCause(t.Context())
	o = async(ctx, t, desk(func(ctx context.Context, _ entity.Run) (string, error) {
		cancel(entity.ErrStopShutdown)
		<-ctx.Done()
		return "", ctx.Err()
	}), s.URL, 1)
	require.Equal(t, entity.StatusFailed, o.Status)
	require.Contains(t, o.Message, entity.ErrStopShutdown.Error())
}

// The time limit counts from the call: an outage of the store uses up no retry.
func TestWaitingForTheStoreIsNoPartOfTheAttempt(t *testing.T) {
	var told time.Time
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var err error
		told, err = time.Parse(time.RFC3339, r.Header.Get("X-Scheduler-Deadline"))
		require.NoError(t, err)
		w.WriteHeader(accepted)
	})
	c := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	settings := open()
	settings.Reports = true
	x := httpcall.New(c, settings)
	defer x.Close()
	run := newRun(t, data{"url": s.URL, "method": "POST", "async": true})
	run.Job.TimeoutSec, run.Deadline = 10, c.Now().Add(10*time.Second)
	run.Tokens = desk(func(ctx context.Context, run entity.Run) (string, error) {
		c.Advance(time.Minute)
		return token(ctx, run)
	})
	require.Equal(t, entity.Accepted(), x.Run(t.Context(), run, &executortest.Recorder{}))
	require.Equal(t, c.Now().Add(10*time.Second), told, "the target is told the deadline that holds")
}

func TestACallCanBeStoppedBeforeItIsAccepted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(entity.ErrStopCancel)
		<-r.Context().Done()
	})
	got := async(ctx, t, desk(token), s.URL, 60)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonError}, []any{got.Status, got.Reason},
		"the cause of the stop decides")
	require.Contains(t, got.Message, entity.ErrStopCancel.Error())
}

// The token is a secret of the target that the job names, and so is what the
// run was given.
func TestNothingConfidentialFollowsToAnotherOrigin(t *testing.T) {
	var got http.Header
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusTeapot)
	})
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, `{"a":1}`, r.Header.Get("X-Scheduler-Params"))
		http.Redirect(w, r, other.URL, http.StatusSeeOther)
	})
	s := open()
	s.Reports = true
	run := newRun(t, data{"url": first.URL, "method": "POST", "async": true})
	run.Job.TimeoutSec, run.Tokens, run.Execution.Params, run.Execution.Checkpoint = 10, desk(token), `{"a":1}`, "row 7"
	require.Equal(t, entity.ReasonHTTPStatus, httpcall.New(clock.NewSystem(), s).Run(t.Context(), run,
		&executortest.Recorder{}).Reason)
	require.NotEmpty(t, got.Get("X-Scheduler-Execution-Id"))
	for _, name := range []string{"Run-Token", "Report-Path", "Report-Url", "Params", "Checkpoint"} {
		require.Empty(t, got.Get("X-Scheduler-"+name), name)
	}
}

func TestAnAsynchronousCallNeedsATimeLimitAndAServerThatListens(t *testing.T) {
	s := open()
	s.Reports = true
	faults := httpcall.New(clock.NewSystem(), s).Check(newRun(t, data{"url": "http://h", "async": true}).Job)
	require.Len(t, faults, 1)
	require.Equal(t, []string{"timeoutSec", "required"}, []string{faults[0].Field, faults[0].Code})
	require.Equal(t, entity.ReasonInvalid, async(t.Context(), t, desk(token), "http://h", 0).Reason)
	faults = httpcall.New(clock.NewSystem(), open()).Check(newRun(t, data{"url": "http://h", "async": true}).Job)
	require.Equal(t, []string{"jobData.async", "not_enabled"}, []string{faults[0].Field, faults[0].Code})
}
