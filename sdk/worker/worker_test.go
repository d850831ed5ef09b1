package worker_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

// rig is a worker in this process, at a scripted gateway.
type rig struct {
	*conformance.Gateway
	t      *testing.T
	stop   context.CancelFunc
	ended  chan error
	server *httptest.Server
}

// start makes a worker; the suite in test/conformance has what all SDKs share.
func start(t *testing.T, o worker.Options, script func(g *conformance.Gateway)) *rig {
	t.Helper()
	r := &rig{Gateway: conformance.NewGateway(), t: t, ended: make(chan error, 1)}
	r.Beat, r.Wait = 100*time.Millisecond, 100*time.Millisecond
	script(r.Gateway)
	r.server = httptest.NewUnstartedServer(r.Handler(0))
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.server.Start()
	o.Servers, o.Token, o.Group, o.Instance = []string{r.server.URL}, r.Token, "shop", "shop-1"
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w, err := worker.New(o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		r.server.CloseClientConnections()
		r.server.Close()
		require.Empty(t, r.Faults())
	})
	return r
}

func (r *rig) until(what string, ask func() bool) {
	r.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		ok, changed := r.Look(ask)
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			r.t.Fatalf("it never came: %s\n%s", what, r.History())
		}
	}
}

func (r *rig) end(run *conformance.Run) (e conformance.End) {
	r.t.Helper()
	r.until("the end of "+run.ID, func() bool {
		if run.Ended() != nil {
			e = *run.Ended()
		}
		return run.Ended() != nil
	})
	return e
}

func nothing(*conformance.Gateway) {}

func does(handle func(ctx context.Context, run *sdk.Run) error) sdk.Handler {
	return sdk.HandlerFunc(handle)
}

// exit is the error of a command that ended with a code, as that of os/exec.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }

func TestCommandsHaveSlotsOfTheirOwn(t *testing.T) {
	t.Parallel()
	r := start(t, worker.Options{Slots: -1, CommandSlots: 1, Command: does(func(context.Context, *sdk.Run) error {
		return fmt.Errorf("run the command: %w", exit(7))
	})}, nothing)
	r.Add(&conformance.Run{ID: "handler", Handler: "x"})
	e := r.end(r.Add(&conformance.Run{ID: "command", Kind: "COMMAND"}))
	require.Equal(t, "FAILED", e.Status)
	require.Equal(t, "EXIT_CODE", e.Reason)
	require.Equal(t, 7, *e.ExitCode)
	r.Do(func() {
		require.Zero(t, r.Newest("poll").Poll.Free)
		require.Equal(t, 0, *r.Newest("register").Registration.Slots)
	})
}

// A handler that ignores that its run is lost keeps its slot in the next life.
func TestADeafHandlerOfAFormerLifeKeepsItsSlot(t *testing.T) {
	t.Parallel()
	release, entered := make(chan struct{}), make(chan struct{})
	lost := false
	r := start(t, worker.Options{Slots: 1, Handlers: map[string]sdk.Handler{
		"deaf": does(func(context.Context, *sdk.Run) error {
			close(entered)
			<-release
			return nil
		}),
		"ok": does(func(context.Context, *sdk.Run) error { return nil }),
	}}, func(g *conformance.Gateway) {
		g.Script = func(c *conformance.Call) *conformance.Fault {
			if lost && c.Kind == "poll" && c.Poll.Epoch == 1 {
				return &conformance.Fault{Status: http.StatusConflict, Code: "epoch_lost"}
			}
			return nil
		}
	})
	r.Add(&conformance.Run{ID: "deaf", Handler: "deaf"})
	<-entered
	r.Do(func() { lost = true })
	ok := r.Add(&conformance.Run{ID: "ok", Handler: "ok"})
	polls := func(n int) func() bool {
		return func() bool {
			for _, c := range r.Calls("poll") {
				if c.Poll.Epoch == 2 {
					n--
				}
			}
			return n <= 0
		}
	}
	r.until("polls of the next life", polls(3))
	r.Do(func() {
		require.Zero(t, r.Newest("poll").Poll.Free)
		require.Equal(t, "waiting", ok.State)
	})
	close(release)
	require.Equal(t, "SUCCESS", r.end(ok).Status)
}

// One report that a server refuses does not keep the others, and its run ends without its texts.
func TestAReportThatIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, worker.Options{Handlers: map[string]sdk.Handler{
		"poison": does(func(_ context.Context, run *sdk.Run) error {
			run.Log("poison")
			run.SetResult("poison")
			return nil
		}),
		"ok": does(func(context.Context, *sdk.Run) error { return nil }),
	}}, func(g *conformance.Gateway) {
		g.Script = func(c *conformance.Call) *conformance.Fault {
			if c.Kind == "report" && strings.Contains(string(c.Raw), `"poison"]`) {
				return &conformance.Fault{Status: http.StatusUnprocessableEntity, Code: "validation_failed"}
			}
			return nil
		}
	})
	poison := r.Add(&conformance.Run{ID: "a", Handler: "poison"})
	require.Equal(t, "SUCCESS", r.end(r.Add(&conformance.Run{ID: "b", Handler: "ok"})).Status)
	e := r.end(poison)
	require.Equal(t, "SUCCESS", e.Status)
	require.Empty(t, e.Result)
	require.Contains(t, e.Message, "refused the report")
}

func TestARegistrationThatIsRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity} {
		r := start(t, worker.Options{}, func(g *conformance.Gateway) {
			g.Script = func(*conformance.Call) *conformance.Fault {
				return &conformance.Fault{Status: status, Code: "no"}
			}
		})
		err := <-r.ended
		require.ErrorContains(t, err, "register this worker")
		require.ErrorContains(t, err, fmt.Sprint("answered ", status))
	}
}

// A server that has too much to do says when to come again.
func TestARegistrationThatHasToWait(t *testing.T) {
	t.Parallel()
	r := start(t, worker.Options{}, func(g *conformance.Gateway) {
		g.Script = func(c *conformance.Call) *conformance.Fault {
			if c.Kind == "register" && c.N == 1 {
				return &conformance.Fault{
					Status: http.StatusTooManyRequests, Code: "too_many", Header: map[string]string{"Retry-After": "1"},
				}
			}
			return nil
		}
	})
	r.until("a poll", func() bool { return r.Newest("poll") != nil })
	r.Do(func() {
		calls := r.Calls("register")
		require.GreaterOrEqual(t, calls[1].At.Sub(calls[0].At), 990*time.Millisecond)
	})
}

// Handlers that do not stop keep Run from draining; it says so, and does not leave.
func TestHandlersThatDoNotStop(t *testing.T) {
	t.Parallel()
	release, entered := make(chan struct{}), make(chan struct{})
	defer close(release)
	r := start(t, worker.Options{Grace: time.Millisecond, Handlers: map[string]sdk.Handler{
		"deaf": does(func(context.Context, *sdk.Run) error {
			close(entered)
			<-release
			return nil
		}),
	}}, nothing)
	run := r.Add(&conformance.Run{ID: "a", Handler: "deaf"})
	<-entered
	r.stop()
	require.ErrorContains(t, <-r.ended, "1 handlers do not stop")
	r.Do(func() {
		require.Empty(t, r.Calls("leave"))
		require.Nil(t, run.Ended())
	})
}

// Each end frees its slot, also when its report overtakes the handler's goroutine.
func TestNoSlotIsLost(t *testing.T) {
	t.Parallel()
	var runs []*conformance.Run
	r := start(t, worker.Options{Handlers: map[string]sdk.Handler{
		"ok": does(func(context.Context, *sdk.Run) error { return nil }),
	}}, func(g *conformance.Gateway) {
		for i := range 1500 {
			runs = append(runs, g.Add(&conformance.Run{ID: fmt.Sprint("e", i), Handler: "ok"}))
		}
	})
	for _, run := range runs {
		require.Equal(t, "SUCCESS", r.end(run).Status)
	}
	r.until("free slots", func() bool { return r.Newest("poll").Poll.Free == 8 })
	r.stop()
	require.NoError(t, <-r.ended)
}
