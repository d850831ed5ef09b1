// Package faillog keeps the log short while something goes on failing: it is
// told when that begins and when it is over, not each time between.
package faillog

import (
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Log tells of one duty. It belongs to the goroutine that does the duty, or to
// the lock that guards it.
type Log struct {
	duty   string
	clock  clock.Clock
	logger *slog.Logger
	// since is when the failures began, in monotonic time.
	since time.Duration
	lasts bool
}

// New returns the log of a duty that has not failed.
func New(duty string, c clock.Clock, l *slog.Logger) *Log {
	return &Log{duty: duty, clock: c, logger: l}
}

// Note takes how one try went; nil is well.
func (o *Log) Note(err error) {
	switch {
	case err != nil && !o.lasts:
		o.lasts, o.since = true, o.clock.Monotonic()
		attrs := []any{"duty", o.duty, "error", err}
		if stack := batch.StackOf(err); stack != "" {
			attrs = append(attrs, "stack", stack)
		}
		o.logger.Error("a duty fails; it goes on trying", attrs...)
	case err == nil && o.lasts:
		o.lasts = false
		o.logger.Info("a duty works again", "duty", o.duty, "after", (o.clock.Monotonic() - o.since).String())
	}
}

// Lasts reports whether the latest try failed.
func (o *Log) Lasts() bool { return o.lasts }
