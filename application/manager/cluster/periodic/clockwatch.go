package periodic

import (
	"context"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MeasuredClock is the store's clock as this node knows it.
type MeasuredClock interface {
	Measure(ctx context.Context) error
	Jumped() time.Duration
	// Offset is how far the store's clock is ahead, as far as that is certain.
	Offset() time.Duration
}

// ClockWatch measures the store's clock, notices jumps of the local one (engine
// rule 13), and tells when that is wrong.
type ClockWatch struct {
	clock  MeasuredClock
	onJump func(by time.Duration)
	logger *slog.Logger
	// told is the offset that people were last told of; 0 when all is well.
	told time.Duration
}

// NewClockWatch wires the parts; onJump makes the planner look again.
func NewClockWatch(c MeasuredClock, l *slog.Logger, onJump func(by time.Duration)) *ClockWatch {
	return &ClockWatch{clock: c, logger: l, onJump: onJump}
}

// RunOnce looks for a jump and measures the store's clock again. It is called
// by one goroutine at a time.
func (w *ClockWatch) RunOnce(ctx context.Context) error {
	jump := w.clock.Jumped()
	if err := w.clock.Measure(ctx); err != nil {
		return err
	}
	if jump != 0 {
		w.logger.Warn("the wall clock jumped; misfire policies decide about what was passed over",
			"by", jump.String(), "store_offset", w.clock.Offset().String())
		w.onJump(jump)
	}
	w.tell(w.clock.Offset())
	return nil
}

// tell says once that the clock is off, again when it is off by another second,
// and once that it is right: within half of what is allowed, so that a clock at
// the edge does not fill the log.
func (w *ClockWatch) tell(offset time.Duration) {
	switch {
	case entity.Skewed(offset) && entity.Skewed(offset-w.told):
		w.told = offset
		w.logger.Warn("this machine's clock is not that of the database; set it right, by NTP for instance (jobs fire by the database's)",
			"store_offset", offset.String(), "allowed", entity.MaxClockOffset.String())
	case w.told != 0 && offset.Abs() <= entity.MaxClockOffset/2:
		w.told = 0
		w.logger.Info("this machine's clock is that of the database again", "store_offset", offset.String())
	}
}
