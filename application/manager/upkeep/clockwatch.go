package upkeep

import (
	"context"
	"log/slog"
	"time"
)

// MeasuredClock is the store's clock as this node knows it.
type MeasuredClock interface {
	Measure(ctx context.Context) error
	Jumped() time.Duration
	Offset() time.Duration
}

// ClockWatch measures the store's clock and notices jumps of the local one
// (engine rule 13).
type ClockWatch struct {
	clock  MeasuredClock
	onJump func(by time.Duration)
	logger *slog.Logger
}

// NewClockWatch wires the parts; onJump makes the planner look again.
func NewClockWatch(c MeasuredClock, l *slog.Logger, onJump func(by time.Duration)) *ClockWatch {
	return &ClockWatch{clock: c, logger: l, onJump: onJump}
}

// RunOnce looks for a jump and measures the store's clock again.
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
	return nil
}
