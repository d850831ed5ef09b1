package httpcall_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/report"
)

// office is an executor whose targets report.
type office struct {
	t       *testing.T
	x       *httpcall.Executor
	reports *report.Registry
	rep     *executortest.Recorder
}

func newOffice(t *testing.T) *office {
	t.Helper()
	reports, err := report.NewRegistry()
	require.NoError(t, err)
	return &office{t: t, x: httpcall.New(clock.NewSystem(), open()).WithReports(reports), reports: reports, rep: &executortest.Recorder{}}
}

// run calls a target that is given the token of its attempt.
func (o *office) run(ctx context.Context, url string, timeoutSec int) entity.Outcome {
	o.t.Helper()
	run := newRun(o.t, data{"url": url, "method": "POST", "async": true})
	run.Job.TimeoutSec = timeoutSec
	return o.x.Run(ctx, run, o.rep)
}

const accepted = http.StatusAccepted

func TestAnAcceptedRunEndsWhenItsTargetSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		end  entity.RunReport
		want entity.Outcome
	}{
		"well": {entity.RunReport{Progress: -1, Status: entity.StatusSuccess, Result: "42"}, entity.Succeeded("42")},
		"not well": {
			entity.RunReport{Progress: -1, Status: entity.StatusFailed, Message: "no stock", NoRetry: true},
			entity.Outcome{Status: entity.StatusFailed, Reason: entity.ReasonError, Message: "no stock", NoRetry: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				id, token := r.Header.Get("X-Scheduler-Execution-Id"), r.Header.Get("X-Scheduler-Run-Token")
				require.Equal(t, "/api/v1/executions/"+id+"/report", r.Header.Get("X-Scheduler-Report-Path"))
				w.WriteHeader(accepted)
				go func() {
					_ = o.reports.Report(id, token, entity.RunReport{Progress: 50, Lines: []string{"half"}})
					_ = o.reports.Report(id, token, c.end)
				}()
			})
			require.Equal(t, c.want, o.run(t.Context(), s.URL, 10))
			progress, _ := o.rep.Last()
			require.Equal(t, 50, progress)
		})
	}
}

// A target that is quick may report before it has answered.
func TestAReportMayComeBeforeTheAnswer(t *testing.T) {
	o := newOffice(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		err := o.reports.Report(r.Header.Get("X-Scheduler-Execution-Id"), r.Header.Get("X-Scheduler-Run-Token"),
			entity.RunReport{Progress: -1, Status: entity.StatusSuccess, Result: "quick"})
		if err == nil {
			w.WriteHeader(accepted)
		}
	})
	require.Equal(t, entity.Succeeded("quick"), o.run(t.Context(), s.URL, 10))
}

// What the target answers decides first; the token is void then.
func TestATargetThatRefusesHasNothingToReport(t *testing.T) {
	o := newOffice(t)
	var id, token string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id, token = r.Header.Get("X-Scheduler-Execution-Id"), r.Header.Get("X-Scheduler-Run-Token")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	require.Equal(t, entity.ReasonHTTPStatus, o.run(t.Context(), s.URL, 10).Reason)
	require.Error(t, o.reports.Authorize(id, token))
}

func TestATargetThatNeverReportsTimesOut(t *testing.T) {
	o := newOffice(t)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(accepted) })
	got := o.run(t.Context(), s.URL, 1)
	require.Equal(t, []any{entity.StatusTimeout, entity.ReasonTimeout}, []any{got.Status, got.Reason})
	require.Contains(t, got.Message, "within 1s")
}

func TestAnAcceptedRunCanBeStopped(t *testing.T) {
	o := newOffice(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(accepted)
		time.AfterFunc(20*time.Millisecond, func() { cancel(entity.ErrStopCancel) })
	})
	got := o.run(ctx, s.URL, 60)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonError}, []any{got.Status, got.Reason}, "the cause of the stop decides")
	require.Contains(t, got.Message, entity.ErrStopCancel.Error())
}

// The token is a secret of the target that the job names.
func TestTheRunTokenDoesNotFollowToAnotherOrigin(t *testing.T) {
	o := newOffice(t)
	var token, identity string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		token, identity = r.Header.Get("X-Scheduler-Run-Token"), r.Header.Get("X-Scheduler-Execution-Id")
		w.WriteHeader(http.StatusTeapot)
	})
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	require.Equal(t, entity.ReasonHTTPStatus, o.run(t.Context(), first.URL, 10).Reason)
	require.NotEmpty(t, identity)
	require.Empty(t, token)
}

func TestAnAsynchronousCallNeedsATimeLimitAndAServerThatListens(t *testing.T) {
	o := newOffice(t)
	faults := o.x.Check(newRun(t, data{"url": "http://h", "async": true}).Job)
	require.Len(t, faults, 1)
	require.Equal(t, []string{"timeoutSec", "required"}, []string{faults[0].Field, faults[0].Code})
	require.Equal(t, entity.ReasonInvalid, o.run(t.Context(), "http://h", 0).Reason)
	faults = httpcall.New(clock.NewSystem(), open()).Check(newRun(t, data{"url": "http://h", "async": true}).Job)
	require.Equal(t, []string{"jobData.async", "not_enabled"}, []string{faults[0].Field, faults[0].Code})
}
