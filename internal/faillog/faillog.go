// Package faillog keeps the log short while something keeps failing. It logs when the
// failures begin and when they end, not each one.
package faillog

import (
	"errors"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Recorder logs the failures of one thing. It is not safe for concurrent use: it belongs
// to one goroutine, or to the lock that guards it.
type Recorder struct {
	clock  clock.Clock
	logger *slog.Logger
	// begin logs at the level that the failures deserve.
	begin func(message string, attrs ...any)
	texts Texts
	// since is when the failures began, in monotonic time.
	since   time.Duration
	failing bool
}

// Texts are the messages of a Recorder: when the failures begin, and when they end.
type Texts struct {
	Fails, Works string
}

// New returns the recorder of a thing that the node can do without. It has not failed,
// and its failures are warnings.
func New(c clock.Clock, l *slog.Logger, t Texts) *Recorder {
	return &Recorder{clock: c, logger: l, texts: t, begin: l.Warn}
}

// OfTask returns the recorder of a task that this node repeats. It has not failed, and
// its failures are errors.
func OfTask(name string, c clock.Clock, l *slog.Logger) *Recorder {
	l = l.With("task", name)
	return &Recorder{clock: c, logger: l, begin: l.Error, texts: Texts{
		Fails: "a task fails; the node repeats it", Works: "a task works again",
	}}
}

// Observe takes the result of one try; nil is success.
func (r *Recorder) Observe(err error) {
	switch {
	case err != nil && !r.failing:
		r.failing, r.since = true, r.clock.Monotonic()
		attrs := []any{"error", err}
		var panicked stacked
		if errors.As(err, &panicked) {
			attrs = append(attrs, "stack", panicked.StackTrace())
		}
		r.begin(r.texts.Fails, attrs...)
	case err == nil && r.failing:
		r.failing = false
		r.logger.Info(r.texts.Works, "after", (r.clock.Monotonic() - r.since).String())
	}
}

// Failing reports whether the latest try failed.
func (r *Recorder) Failing() bool { return r.failing }

// stacked is an error that knows where its goroutine panicked.
type stacked interface {
	error
	StackTrace() string
}
