package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// RequestIDHeader carries the id of a request in both directions.
const RequestIDHeader = "X-Request-Id"

const maxRequestID = 64

// RequestID takes the caller's id if it is harmless, else makes one.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(RequestIDHeader)
		if !HarmlessID(id) {
			id = uuid.NewString()
		}
		c.Set(keyRequestID, id)
		c.Header(RequestIDHeader, id)
		c.Next()
	}
}

// HarmlessID reports whether a text can stand in a log, a header and a path
// without meaning anything there.
func HarmlessID(s string) bool {
	return s != "" && s[0] != '.' && len(s) <= maxRequestID && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && r != '-' && r != '_' && r != '.'
	})
}

// AccessLog writes a line for each request. It names the route, not the path,
// and never the query, which may hold what is nobody's business. Probes are logged at
// debug, failures of the server as errors with their cause. A call whose caller left is
// no failure of the server.
func AccessLog(log *slog.Logger, clk clock.Clock) gin.HandlerFunc {
	return func(c *gin.Context) {
		began := clk.Monotonic()
		caller := c.Request.Context() // ends when the caller leaves
		c.Next()
		if status := c.Writer.Status(); !c.GetBool(keyQuiet) || status == http.StatusInternalServerError {
			logAccess(c, log, clk.Monotonic()-began, status, caller.Err() == nil)
		}
	}
}

// logAccess writes the line of a request that took so long. awaited: the caller has not left before its end.
func logAccess(c *gin.Context, log *slog.Logger, took time.Duration, status int, awaited bool) {
	route := c.FullPath()
	if route == "" {
		route = "none"
	}
	attrs := []slog.Attr{
		slog.String("method", method(c.Request.Method)), slog.String("route", route), slog.Int("status", status),
		slog.Float64("durationMs", float64(took.Microseconds())/1000),
		slog.String("requestId", RequestIDOf(c)), slog.String("client", c.ClientIP()),
	}
	if u, ok := UserOf(c); ok {
		attrs = append(attrs, slog.String("user", u.Name))
	}
	level := slog.LevelInfo
	err := errorOf(c)
	switch {
	case status >= http.StatusInternalServerError:
		if awaited { // else nobody waited for the answer, and that is why
			level = slog.LevelError
		}
		if err != nil {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
	case status < http.StatusBadRequest && err != nil: // the answer broke off
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", err.Error()))
	case !strings.HasPrefix(route, "/api/") && status < http.StatusBadRequest:
		level = slog.LevelDebug
	}
	log.LogAttrs(context.WithoutCancel(c.Request.Context()), level, "request", attrs...)
}

// Quiet leaves a call out of the access log, unless it fails by a mistake of ours: there are too many of its kind.
func Quiet() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(keyQuiet, true)
		c.Next()
	}
}

// Recover turns a panic into an internal problem. The stack goes to the log
// and nowhere else.
func Recover(log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v) //nolint:forbidigo // net/http asks for this one to be passed on
			}
			log.Error("a request panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()), "requestId", RequestIDOf(c),
				"route", c.FullPath())
			Fail(c, fmt.Errorf("panic: %v", v))
		}()
		c.Next()
	}
}
