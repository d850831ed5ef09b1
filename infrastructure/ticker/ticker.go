// Package ticker drives a node's periodic duties with gocron. It never carries
// the fires of jobs: those are held by the timing wheel and guarded by the
// store (docs/architecture.md).
package ticker

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// Ticker calls functions at intervals. Make it with New; stop it with Stop.
type Ticker struct {
	scheduler gocron.Scheduler
	ctx       context.Context
	cancel    context.CancelFunc
}

// stopTimeout bounds how long Stop waits for duties in progress.
const stopTimeout = 10 * time.Second

// New returns a ticker that has not started.
func New() (*Ticker, error) {
	s, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(stopTimeout))
	if err != nil {
		return nil, fmt.Errorf("make the ticker: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Ticker{scheduler: s, ctx: ctx, cancel: cancel}, nil
}

// Every adds a duty. It runs one call at a time: a tick that comes while the
// former call is still at work is left out. The first call follows Start at
// once.
func (t *Ticker) Every(name string, interval time.Duration, run func(ctx context.Context)) error {
	_, err := t.scheduler.NewJob(
		gocron.DurationJob(interval),
		gocron.NewTask(func() { run(t.ctx) }),
		gocron.WithName(name),
		gocron.WithSingletonMode(gocron.LimitModeReschedule),
		gocron.WithStartAt(gocron.WithStartImmediately()),
	)
	if err != nil {
		return fmt.Errorf("add the duty %s: %w", name, err)
	}
	return nil
}

// Start begins to tick.
func (t *Ticker) Start() { t.scheduler.Start() }

// Stop ends the ticking: duties in progress see their context end and are
// waited for.
func (t *Ticker) Stop() error {
	t.cancel()
	return t.scheduler.Shutdown()
}
