package server

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

// bootHandler serves the port from the start of the process: first the status of the
// start, then the API. It answers questions of other nodes before the API is ready.
type bootHandler struct{ handler, peers atomic.Pointer[http.Handler] }

func newBootHandler(w *app.StartupStatus) *bootHandler {
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
