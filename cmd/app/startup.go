package app

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

// retryPause is the time between two tries of a start that waits.
const retryPause = 2 * time.Second

// StartupStatus states what a start waits for. The zero value waits for nothing yet.
type StartupStatus struct{ what atomic.Pointer[string] }

// Why returns the status for callers who are not signed in: it names no addresses.
func (w *StartupStatus) Why() string {
	if what := w.what.Load(); what != nil {
		return "the server is starting: it waits for " + *what
	}
	return "the server is starting"
}

// retryUntilReady tries until it succeeds, until server.startWaitSec is over, or until
// waitable reports false for an error. It logs each failure.
func (e *Engine) retryUntilReady(
	ctx context.Context, what string, try func(ctx context.Context) error, waitable func(error) bool,
) error {
	until := e.machine.Monotonic() + time.Duration(e.cfg.Server.StartWaitSec)*time.Second
	for {
		err := try(ctx)
		left := until - e.machine.Monotonic()
		if err == nil || !waitable(err) || left < retryPause || ctx.Err() != nil {
			return err
		}
		e.startup.what.Store(&what)
		e.logger.Warn("the start waits for "+what, "error", err, "givesUpIn", left.Round(time.Second).String())
		if err := clock.Sleep(ctx, e.machine, retryPause); err != nil {
			return err
		}
	}
}

// bootHandler serves the port from the start of the process: first the status of the
// start, then the API. It answers questions of other nodes before the API is ready.
type bootHandler struct{ handler, peers atomic.Pointer[http.Handler] }

func newBootHandler(w *StartupStatus) *bootHandler {
	e := &bootHandler{}
	e.open(api.Starting(w.Why))
	return e
}

func (e *bootHandler) open(h http.Handler) { e.handler.Store(&h) }

// answer serves the questions of other nodes from now on.
func (e *bootHandler) answer(h http.Handler) { e.peers.Store(&h) }

// ServeHTTP implements http.Handler.
func (e *bootHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if peers := e.peers.Load(); peers != nil && strings.HasPrefix(r.URL.Path, peering.Prefix) {
		(*peers).ServeHTTP(w, r)
		return
	}
	(*e.handler.Load()).ServeHTTP(w, r)
}
