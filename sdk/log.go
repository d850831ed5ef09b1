package sdk

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Log writes to the run's log as fmt.Sprintf does. Without args the format is
// the text itself, so that a text with a percent sign comes out unharmed.
func (r *Run) Log(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	r.sink.Log(strings.TrimSuffix(line, "\n"))
}

// Logger writes structured lines of every level into the run's log. They carry
// no time, since the log keeps one with each line.
func (r *Run) Logger() *slog.Logger {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logger == nil {
		text := slog.NewTextHandler(sinkWriter{r.sink}, &slog.HandlerOptions{Level: slog.LevelDebug})
		r.logger = slog.New(timeless{text})
	}
	return r.logger
}

// timeless leaves the time of records out.
type timeless struct{ slog.Handler }

func (h timeless) Handle(ctx context.Context, record slog.Record) error {
	record.Time = time.Time{}
	return h.Handler.Handle(ctx, record)
}

func (h timeless) WithAttrs(attrs []slog.Attr) slog.Handler {
	return timeless{h.Handler.WithAttrs(attrs)}
}

func (h timeless) WithGroup(name string) slog.Handler { return timeless{h.Handler.WithGroup(name)} }

// sinkWriter makes a line of each record; slog hands every one over whole.
type sinkWriter struct{ sink Sink }

func (w sinkWriter) Write(p []byte) (int, error) {
	w.sink.Log(string(bytes.TrimSuffix(p, []byte("\n"))))
	return len(p), nil
}
