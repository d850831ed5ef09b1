package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// retryPause is the time between two tries of a start that waits.
const retryPause = 2 * time.Second

// StartupStatus states what a start waits for. The zero value waits for nothing yet.
type StartupStatus struct{ what atomic.Pointer[string] }

// Why returns the status for callers who are not signed in: it names no addresses.
func (w *StartupStatus) Why() string {
	if what := w.what.Load(); what != nil {
		return "the server is starting: it waits for " + *what
	}
	return "the server is starting"
}

// retryUntilReady tries until it succeeds, until server.startWaitSec is over, or until
// waitable reports false for an error. It logs each failure.
func (b base) retryUntilReady(
	ctx context.Context, what string, try func(ctx context.Context) error, waitable func(error) bool,
) error {
	until := b.machine.Monotonic() + time.Duration(b.cfg.Server.StartWaitSec)*time.Second
	for {
		err := try(ctx)
		left := until - b.machine.Monotonic()
		if err == nil || !waitable(err) || left < retryPause || ctx.Err() != nil {
			return err
		}
		b.options.Startup.what.Store(&what)
		b.logger.Warn("the start waits for "+what, "error", err, "givesUpIn", left.Round(time.Second).String())
		if err := clock.Sleep(ctx, b.machine, retryPause); err != nil {
			return err
		}
	}
}
