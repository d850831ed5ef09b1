package api

import (
	"log/slog"
	"net/http"
	"time"
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
