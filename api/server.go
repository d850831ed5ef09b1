package api

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
)

// The time-outs and limits of the server: a client that sends or reads slowly
// must not hold a connection for long.
const (
	ReadHeaderTimeout = 5 * time.Second
	// ReadTimeout is for the whole request, body included.
	ReadTimeout = 30 * time.Second
	// WriteTimeout is longer than a call may work. Streams set their own
	// deadline with http.ResponseController.
	WriteTimeout = 60 * time.Second
	IdleTimeout  = 2 * time.Minute
	// MaxHeaderBytes bounds the request line and the headers.
	MaxHeaderBytes = 64 << 10
)

// NewServer returns a server with those limits; the caller starts and stops it.
func NewServer(addr string, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Addr: addr, Handler: h, ReadHeaderTimeout: ReadHeaderTimeout, ReadTimeout: ReadTimeout,
		WriteTimeout: WriteTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Starting answers for a node whose start waits: it is alive, and not ready.
// why says for what it waits; strangers may read it.
func Starting(why func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/healthz" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"ok"}`)
			return
		}
		p := problem.New(http.StatusServiceUnavailable, "starting", why())
		p.RetryAfterSec = 1
		p.Write(w)
	})
}
