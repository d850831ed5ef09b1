// Package ticker drives a node's periodic tasks with gocron. It never fires jobs: the
// timing wheel holds their fires, and the store guards them (docs/architecture.md).
package ticker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
)

// Ticker calls functions at intervals. Make it with New; stop it with Stop.
type Ticker struct {
	scheduler gocron.Scheduler
	ctx       context.Context
	stop      func() error
}

// stopTimeout bounds how long Stop waits for tasks in progress.
const stopTimeout = 10 * time.Second

// New returns a ticker that has not started.
func New() (*Ticker, error) {
	s, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(stopTimeout))
	if err != nil {
		return nil, fmt.Errorf("make the ticker: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Ticker{scheduler: s, ctx: ctx, stop: sync.OnceValue(func() error {
		cancel()
		return s.Shutdown()
	})}, nil
}

// Every adds a task, whose first call follows Start at once. It makes one call at a time, and
// drops a tick that comes during a call. It also drops a tick for which may returns an error.
// may must not wait; a nil may accepts every tick.
//
// A gocron.Elector's IsLeader can serve as may. It is not given to gocron as its elector: the
// scheduler of a node that does not lead would remember every dropped tick for ever (v2.21.2).
func (t *Ticker) Every(name string, interval time.Duration, may func(ctx context.Context) error,
	run func(ctx context.Context),
) error {
	options := []gocron.JobOption{
		gocron.WithName(name),
		gocron.WithSingletonMode(gocron.LimitModeReschedule),
		gocron.WithStartAt(gocron.WithStartImmediately()),
	}
	if may != nil {
		options = append(options, gocron.WithEventListeners(
			gocron.BeforeJobRunsSkipIfBeforeFuncErrors(func(uuid.UUID, string) error { return may(t.ctx) })))
	}
	_, err := t.scheduler.NewJob(gocron.DurationJob(interval), gocron.NewTask(func() { run(t.ctx) }), options...)
	if err != nil {
		return fmt.Errorf("add the task %s: %w", name, err)
	}
	return nil
}

// Start starts the ticks.
func (t *Ticker) Start() { t.scheduler.Start() }

// Stop ends the ticks. It cancels the contexts of tasks in progress and waits for them. A ticker that has not started
// needs it, too; a second call does nothing more.
func (t *Ticker) Stop() error { return t.stop() }
