package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

// healthHeaders bounds how long a caller may take to ask.
const healthHeaders = 5 * time.Second

// serveHealth answers whether a worker has a lease, at the path at which servers answer: the same checks ask both.
// Without an address it does nothing.
func serveHealth(ctx context.Context, address string, w *worker.Worker) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for health checks (--health): %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(out http.ResponseWriter, _ *http.Request) {
		state := w.State()
		out.Header().Set("Content-Type", "application/json")
		if state.State == worker.StateStarting {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(out).Encode(state) // who asked is gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: healthHeaders}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = server.Serve(listener) // it ends with stop
	}()
	return func() {
		_ = server.Close()
		<-over
	}, nil
}
