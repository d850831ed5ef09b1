package periodic

import (
	"context"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MeasuredClock is the store's clock as this node measures it.
type MeasuredClock interface {
	Measure(ctx context.Context) error
	Jumped() time.Duration
	// Offset returns how far the store's clock is surely ahead.
	Offset() time.Duration
}

// ClockWatch measures the store's clock, detects jumps of the local clock (engine rule
// 13), and logs when the local clock is wrong.
type ClockWatch struct {
	clock  MeasuredClock
	onJump func(by time.Duration)
	logger *slog.Logger
	// logged is the offset that the last warning named; 0 when the clock is right.
	logged time.Duration
}

// NewClockWatch returns a watch of the clock; onJump lets the planner scan again.
func NewClockWatch(c MeasuredClock, l *slog.Logger, onJump func(by time.Duration)) *ClockWatch {
	return &ClockWatch{clock: c, logger: l, onJump: onJump}
}

// RunOnce looks for a jump and measures the store's clock again. It is not safe for
// concurrent use.
func (w *ClockWatch) RunOnce(ctx context.Context) error {
	jump := w.clock.Jumped()
	if err := w.clock.Measure(ctx); err != nil {
		return err
	}
	if jump != 0 {
		w.logger.Warn("the wall clock jumped; misfire policies decide about the skipped fires",
			"by", jump.String(), "storeOffset", w.clock.Offset().String())
		w.onJump(jump)
	}
	w.tell(w.clock.Offset())
	return nil
}

// tell logs once that the clock is wrong, again for each further second, and once that
// it is right. Right means within half of what is allowed, so that a clock near the
// bound does not fill the log.
func (w *ClockWatch) tell(offset time.Duration) {
	switch {
	case entity.Skewed(offset) && entity.Skewed(offset-w.logged):
		w.logged = offset
		w.logger.Warn("this machine's clock differs from the database's clock; correct it, for example by NTP (jobs fire "+
			"by the database's clock)",
			"storeOffset", offset.String(), "allowed", entity.MaxClockOffset.String())
	case w.logged != 0 && offset.Abs() <= entity.MaxClockOffset/2:
		w.logged = 0
		w.logger.Info("this machine's clock agrees with the database's clock again", "storeOffset", offset.String())
	}
}
