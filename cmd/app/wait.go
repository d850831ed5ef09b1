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

// Waiting tells for what a start waits. The zero value waits for nothing yet.
type Waiting struct{ what atomic.Pointer[string] }

// Why is for strangers: it names no addresses.
func (w *Waiting) Why() string {
	if what := w.what.Load(); what != nil {
		return "the server is starting: it waits for " + *what
	}
	return "the server is starting"
}

// patiently tries until it succeeds, until server.startWaitSec is over, or
// until an error comes that no waiting mends. Each failure is told in the log.
func (e *Engine) patiently(ctx context.Context, what string, try func(ctx context.Context) error, waitable func(error) bool) error {
	until := e.machine.Monotonic() + time.Duration(e.cfg.Server.StartWaitSec)*time.Second
	for {
		err := try(ctx)
		left := until - e.machine.Monotonic()
		if err == nil || !waitable(err) || left < retryPause || ctx.Err() != nil {
			return err
		}
		e.waiting.what.Store(&what)
		e.logger.Warn("the start waits for "+what, "why", err, "gives_up_in", left.Round(time.Second).String())
		if err := clock.Sleep(ctx, e.machine, retryPause); err != nil {
			return err
		}
	}
}

// edge is what the port serves: that the server starts, then the API. Questions
// of other nodes never wait for the API.
type edge struct{ handler, peers atomic.Pointer[http.Handler] }

func newEdge(w *Waiting) *edge {
	e := &edge{}
	e.open(api.Starting(w.Why))
	return e
}

func (e *edge) open(h http.Handler) { e.handler.Store(&h) }

// answer takes the questions of other nodes from now on.
func (e *edge) answer(h http.Handler) { e.peers.Store(&h) }

// ServeHTTP implements http.Handler.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if peers := e.peers.Load(); peers != nil && strings.HasPrefix(r.URL.Path, peering.Prefix) {
		(*peers).ServeHTTP(w, r)
		return
	}
	(*e.handler.Load()).ServeHTTP(w, r)
}
