package api

import (
	"io"
	"net/http"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
)

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
