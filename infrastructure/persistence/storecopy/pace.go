package storecopy

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// share is the part of one processor that a copy beside servers takes.
const share = 0.3

// pace keeps this process within a share of one processor. It is used by one goroutine.
type pace struct {
	clock clock.Clock
	// share is 0 where there is no bound.
	share float64
	// began and used are the time and the processor time at the begin.
	began, used time.Duration
}

func newPace(c clock.Clock, fast bool) *pace {
	if fast {
		return &pace{}
	}
	p := &pace{clock: c, share: share, began: c.Monotonic()}
	p.used, _ = processorTime()
	return p
}

// wait rests until the time that was used is within the share.
func (p *pace) wait(ctx context.Context) error {
	if p.share == 0 {
		return ctx.Err()
	}
	used, err := processorTime()
	if err != nil {
		return err
	}
	due := time.Duration(float64(used-p.used) / p.share)
	return clock.Sleep(ctx, p.clock, due-(p.clock.Monotonic()-p.began))
}

// processorTime is what this process has used of all processors.
func processorTime() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}
