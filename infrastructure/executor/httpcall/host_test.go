package httpcall_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

func TestCallsOfOneHostAreBounded(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	slow := serve(t, func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-release
	})
	other := serve(t, func(http.ResponseWriter, *http.Request) {})
	bounds := open()
	bounds.Hosts.PerHost = 2
	now := clocktest.NewManual(time.Unix(0, 0))
	x := httpcall.New(now, bounds)
	defer x.Close()
	ended := make(chan entity.Outcome, 3)
	start := func(ctx context.Context) {
		go func() { ended <- x.Run(ctx, newRun(t, data{"url": slow.URL}), &executortest.Recorder{}) }()
	}
	start(t.Context())
	start(t.Context())
	<-began
	<-began
	require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": other.URL}).Status, "another host is not held up")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(entity.ErrStopCancel)
	outcome := x.Run(ctx, newRun(t, data{"url": slow.URL}), &executortest.Recorder{})
	require.Equal(t, entity.StatusFailed, outcome.Status, "it gives up when it is stopped while it waits")

	start(t.Context())
	release <- struct{}{}
	<-began // the third has taken the place
	close(release)
	for range 3 {
		require.Equal(t, entity.StatusSuccess, (<-ended).Status)
	}
}

// flaky is an address that refuses connections until it is up. It is none that other tests listen on: while it is
// closed, one of them could take its port, and a call from 127.0.0.1 could meet itself there.
func flaky(t *testing.T) (url string, up func()) {
	t.Helper()
	own := fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254)) //nolint:gosec // any will do
	listener, err := net.Listen("tcp", own)
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	return "http://" + addr, func() {
		listener, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		server := &http.Server{
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Second,
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(listener)
		}()
		t.Cleanup(func() {
			_ = server.Close()
			<-done
		})
	}
}

func TestCallsOfAHostThatCannotBeReachedAreHeldBack(t *testing.T) {
	url, up := flaky(t)
	bounds := open()
	bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 3, 10*time.Second
	now := clocktest.NewManual(time.Unix(0, 0))
	x := httpcall.New(now, bounds)
	defer x.Close()
	for range 3 {
		require.Contains(t, runs(t, x, data{"url": url}).Message, "connect to ")
	}
	now.Advance(4 * time.Second)
	rep := &executortest.Recorder{}
	held := x.Run(t.Context(), newRun(t, data{"url": url}), rep)
	require.True(t, held.IsHeldBack())
	require.Equal(t, entity.StatusWaiting, held.Status, "the attempt did not begin")
	require.Equal(t, "held back: 3 calls in a row could not connect to "+url, held.Message)
	require.GreaterOrEqual(t, held.RetryAfter, 7*time.Second, "a little after the call that tries")
	require.Less(t, held.RetryAfter, 9*time.Second)
	require.Empty(t, rep.Lines(), "nothing was called")

	now.Advance(6 * time.Second)
	require.Contains(t, runs(t, x, data{"url": url}).Message, "connect to ", "one call tries again")
	require.Contains(t, runs(t, x, data{"url": url}).Message, "held back: 4 calls")

	up()
	now.Advance(10 * time.Second)
	run, rep := newRun(t, data{"url": url}), &executortest.Recorder{}
	run.Execution.Attempt = 2
	run.Execution.Holds = []entity.Hold{
		{Attempt: 1, Count: 5, For: time.Minute},
		{Attempt: 2, Count: 3, For: 24 * time.Second},
	}
	require.Equal(t, entity.StatusSuccess, x.Run(t.Context(), run, rep).Status)
	require.Contains(t, rep.Lines()[0].Text, "held back 3 times, 24s in all, before this attempt")
	require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": url}).Status)
}

// A hop that is held back is a part of its attempt, which has called its target.
func TestAHopThatIsHeldBackIsAFailedAttempt(t *testing.T) {
	dead, _ := flaky(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, dead, http.StatusFound) })
	bounds := open()
	bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 1, 10*time.Second
	x := httpcall.New(clocktest.NewManual(time.Unix(0, 0)), bounds)
	defer x.Close()
	require.Contains(t, runs(t, x, data{"url": dead}).Message, "connect to ")
	got := runs(t, x, data{"url": s.URL})
	require.Equal(
		t,
		[]any{entity.StatusFailed, entity.ReasonError, time.Duration(0)},
		[]any{got.Status, got.Reason, got.RetryAfter},
	)
	require.Contains(t, got.Message, "held back: 1 calls")
}

// A call that is held back fails at once, and waits for no place before it does.
func TestACallThatIsHeldBackWaitsForNoPlace(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	d := data{"url": "https://" + silent.Addr().String()}
	bounds := open()
	bounds.Hosts.PerHost, bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 1, 1, 10*time.Second
	now := clocktest.NewManual(time.Unix(0, 0))
	x := httpcall.New(now, bounds)
	defer x.Close()
	ended := make(chan entity.Outcome, 1)
	hangUp := func(before func()) {
		go func() { ended <- x.Run(t.Context(), newRun(t, d), &executortest.Recorder{}) }()
		conn, err := silent.Accept()
		require.NoError(t, err)
		before()
		require.NoError(t, conn.Close())
		require.Contains(t, (<-ended).Message, "agree on TLS with ")
	}
	hangUp(func() {})
	now.Advance(10 * time.Second)
	hangUp(func() {
		rep := &executortest.Recorder{}
		held := x.Run(t.Context(), newRun(t, d), rep)
		require.Contains(t, held.Message, "held back: 1 calls")
		require.Zero(t, rep.Waited())
	})
}

// hangsUp ends the first connection that comes.
type hangsUp struct {
	net.Listener
	once sync.Once
}

// Accept implements net.Listener.
func (l *hangsUp) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	l.once.Do(func() {
		if err == nil {
			_ = conn.Close()
		}
		conn, err = l.Listener.Accept()
	})
	return conn, err
}

// A target that is reached again and takes its time to answer holds nobody back.
func TestATargetThatAnswersSlowlyIsReached(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	defer answer()
	slow := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-release
	}))
	slow.Listener = &hangsUp{Listener: slow.Listener}
	slow.StartTLS()
	t.Cleanup(slow.Close)
	bounds := settings(slow)
	bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 1, 10*time.Second
	now := clocktest.NewManual(time.Unix(0, 0))
	x := httpcall.New(now, bounds)
	defer x.Close()
	require.Contains(t, runs(t, x, data{"url": slow.URL}).Message, "agree on TLS with ")
	now.Advance(10 * time.Second)
	ended := make(chan entity.Outcome, 2)
	for range 2 {
		go func() { ended <- x.Run(t.Context(), newRun(t, data{"url": slow.URL}), &executortest.Recorder{}) }()
		select {
		case <-began: // the first one waits for its answer now
		case o := <-ended:
			require.Fail(t, o.Message)
		}
	}
	answer()
	for range 2 {
		require.Equal(t, entity.StatusSuccess, (<-ended).Status)
	}
}

func TestOnlyFailuresToConnectHoldCallsBack(t *testing.T) {
	bad := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	bounds := open()
	bounds.Hosts.BreakAfter, bounds.Hosts.BreakFor = 1, time.Hour
	x := httpcall.New(clocktest.NewManual(time.Unix(0, 0)), bounds)
	defer x.Close()
	for range 3 {
		require.Equal(t, entity.ReasonHTTPStatus, runs(t, x, data{"url": bad.URL}).Reason)
	}
	refused := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	for range 3 {
		require.Contains(t, runs(t, x, data{"url": refused.URL}).Message, "are not allowed",
			"what is refused here says nothing of the target")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(entity.ErrStopCancel)
	url, _ := flaky(t)
	require.Equal(t, entity.StatusFailed, x.Run(ctx, newRun(t, data{"url": url}), &executortest.Recorder{}).Status)
	require.NotContains(t, runs(t, x, data{"url": url}).Message, "held back",
		"a call that was cancelled says nothing of the target")
}

// busyHost is a host of which one call may be under way, and is, until release.
func busyHost(t *testing.T, timeoutSec int) (
	now *clocktest.Manual, run func(rep *executortest.Recorder) <-chan entity.Outcome,
	began chan struct{}, release func(),
) {
	t.Helper()
	began, held := make(chan struct{}, 10), make(chan struct{})
	slow := serve(t, func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-held
	})
	bounds := open()
	bounds.Hosts.PerHost = 1
	now = clocktest.NewManual(time.Unix(0, 0))
	x := httpcall.New(now, bounds)
	t.Cleanup(x.Close)
	run = func(rep *executortest.Recorder) <-chan entity.Outcome {
		ended := make(chan entity.Outcome, 1)
		r := newRun(t, data{"url": slow.URL})
		r.Job.TimeoutSec = timeoutSec
		go func() { ended <- x.Run(t.Context(), r, rep) }()
		return ended
	}
	return now, run, began, func() { held <- struct{}{} }
}

func waits(t *testing.T, rep *executortest.Recorder) {
	t.Helper()
	require.Eventually(t, func() bool { return rep.Waited() == 1 }, 20*time.Second, time.Millisecond, "the attempt waits")
}

// Engine rule 22: the time-out begins when the attempt does, and not while it
// waits for a place at its host.
func TestWaitingForAHostDoesNotCount(t *testing.T) {
	now, run, began, release := busyHost(t, 1)
	first := run(&executortest.Recorder{})
	<-began
	rep := &executortest.Recorder{}
	second := run(rep)
	waits(t, rep)
	now.Advance(900 * time.Millisecond)
	release()
	require.Equal(t, entity.StatusSuccess, (<-first).Status)
	<-began
	now.Advance(900 * time.Millisecond)
	release()
	require.Equal(t, entity.StatusSuccess, (<-second).Status)
}

// A busy host keeps no slots for long: a run that found no place waits elsewhere.
func TestABusyHostSendsRunsAway(t *testing.T) {
	now, run, began, release := busyHost(t, 60)
	first := run(&executortest.Recorder{})
	<-began
	rep := &executortest.Recorder{}
	second := run(rep)
	waits(t, rep)
	crowd := &executortest.Recorder{}
	third := <-run(crowd)
	require.Zero(t, crowd.Waited(), "enough wait here already")
	now.Advance(time.Second)
	for _, o := range []entity.Outcome{third, <-second} {
		require.Equal(t, entity.StatusWaiting, o.Status, o.Message)
		require.GreaterOrEqual(t, o.RetryAfter, time.Second)
		require.Less(t, o.RetryAfter, 3*time.Second)
		require.Contains(t, o.Message, "1 calls of http://127.0.0.1")
		require.Contains(t, o.Message, "executor.http.maxPerHost")
	}
	require.Empty(t, rep.Lines(), "nothing was called")
	release()
	require.Equal(t, entity.StatusSuccess, (<-first).Status)
	after := run(&executortest.Recorder{})
	<-began
	release()
	require.Equal(t, entity.StatusSuccess, (<-after).Status, "no place was lost")
}
