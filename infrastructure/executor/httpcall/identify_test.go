package httpcall_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

func TestATargetLearnsWhatTheRunWasGiven(t *testing.T) {
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	send := func(change func(run *entity.Run)) http.Header {
		run := newRun(t, data{"url": s.URL})
		change(&run)
		require.Equal(t, entity.StatusSuccess, httpcall.New(clock.NewSystem(), open()).Run(t.Context(), run,
			&executortest.Recorder{}).Status)
		return got
	}
	h := send(func(run *entity.Run) {
		run.Job.Name, run.Execution.Params, run.Execution.Checkpoint = " 结算 100% ", `{"day":"2026-03-01"}`, "row 7\nof 9"
		run.Deadline = time.Date(2026, 3, 1, 2, 1, 0, 0, time.UTC)
	})
	require.Equal(t, "%20%E7%BB%93%E7%AE%97 100%25%20", h.Get("X-Scheduler-Job-Name"))
	require.Equal(t, `{"day":"2026-03-01"}`, h.Get("X-Scheduler-Params"))
	require.Equal(t, "row 7%0Aof 9", h.Get("X-Scheduler-Checkpoint"))
	require.Equal(t, "2026-03-01T02:01:00.000Z", h.Get("X-Scheduler-Deadline"))
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, h.Get("traceparent"))

	began := time.Now()
	h = send(func(*entity.Run) {})
	require.NotContains(t, h, "X-Scheduler-Params")
	require.NotContains(t, h, "X-Scheduler-Checkpoint")
	require.NotContains(t, h, "X-Scheduler-Omitted")
	deadline, err := time.Parse(time.RFC3339, h.Get("X-Scheduler-Deadline"))
	require.NoError(t, err)
	require.WithinDuration(t, began.Add(httpcall.DefaultTimeout), deadline, 10*time.Second,
		"without a limit of its own a call has the usual one")
}

// A header that a server might refuse for its length is left out, and that is said.
func TestLongValuesAreLeftOutOfTheHeaders(t *testing.T) {
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	run := newRun(t, data{"url": s.URL, "headers": data{"TraceParent": "00-1-2-00"}})
	long := make([]byte, 4<<10+1)
	for i := range long {
		long[i] = 'x'
	}
	run.Execution.Params, run.Execution.Checkpoint = `{"a":"`+string(long[:1366*3-8])+`"}`, string(long)
	require.Equal(t, entity.StatusSuccess, httpcall.New(clock.NewSystem(), open()).Run(t.Context(), run,
		&executortest.Recorder{}).Status)
	require.NotContains(t, got, "X-Scheduler-Params")
	require.NotContains(t, got, "X-Scheduler-Checkpoint")
	require.Equal(t, "Params, Checkpoint", got.Get("X-Scheduler-Omitted"))
	require.Equal(t, "00-1-2-00", got.Get("traceparent"), "that of the definition wins")
}

// The values of a run are meant for the target that the job names.
func TestWhatTheRunWasGivenDoesNotFollowToAnotherOrigin(t *testing.T) {
	var got http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, `{"a":1}`, r.Header.Get("X-Scheduler-Params"))
		http.Redirect(w, r, other.URL, http.StatusFound)
	})
	run := newRun(t, data{"url": first.URL})
	run.Execution.Params, run.Execution.Checkpoint = `{"a":1}`, "row 7"
	require.Equal(t, entity.StatusSuccess, httpcall.New(clock.NewSystem(), open()).Run(t.Context(), run,
		&executortest.Recorder{}).Status)
	require.NotEmpty(t, got.Get("X-Scheduler-Execution-Id"))
	require.Empty(t, got.Get("X-Scheduler-Params")+got.Get("X-Scheduler-Checkpoint"))
}
