package idle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

const (
	// joinedWithin is how long all workers may take to be there.
	joinedWithin = 5 * time.Minute
	// rest is how long they are left alone before they are measured.
	rest = 20 * time.Second
)

// watchWorkers has workers of this process call a server, and measures what that costs it. before is what the server
// used without them.
func (b Servers) watchWorkers(ctx context.Context, s *server, before report.NodeFigures) (*report.IdleWorkers, error) {
	crew, dismiss, err := b.hire(ctx, s.url)
	if err != nil {
		return nil, err
	}
	defer dismiss()
	b.Note("%d workers are there; watching for %s what they cost", b.Workers, b.Duration)
	if err := b.Sleep(ctx, rest); err != nil {
		return nil, err
	}
	start, err := rig.ReadFigures(ctx, s.url)
	if err != nil {
		return nil, err
	}
	out := &report.IdleWorkers{Workers: b.Workers}
	at := b.Clock.Monotonic()
	for b.Clock.Monotonic()-at < b.Duration {
		if err := b.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		out.Looks++
		for _, w := range crew {
			left := w.LeaseLeft()
			if left <= 0 {
				out.Lapsed++
			}
			if ms := left.Milliseconds(); out.LeastLeaseMs == 0 || ms < out.LeastLeaseMs {
				out.LeastLeaseMs = ms
			}
		}
	}
	end, err := rig.ReadFigures(ctx, s.url)
	if err != nil {
		return nil, err
	}
	seconds := (b.Clock.Monotonic() - at).Seconds()
	out.CPUPercentMore = end.CPUSince(start, seconds) - before.CPUPercent
	out.RSSMbMore = end.RSS/(1<<20) - before.RSSMb
	out.QueriesPerSecond = end.QueriesSince(start, seconds)
	return out, nil
}

// hire starts the workers, and waits until each has a lease. dismiss ends them.
func (b Servers) hire(ctx context.Context, url string) (crew []*worker.Worker, dismiss func(), err error) {
	token, err := rig.WorkerToken(ctx, url, b.Clock.Now())
	if err != nil {
		return nil, nil, err
	}
	working, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	dismiss = func() {
		stop()
		ended.Wait()
	}
	defer func() {
		if err != nil {
			dismiss()
		}
	}()
	noop := sdk.HandlerFunc(func(context.Context, *sdk.Run) error { return nil })
	for i := range b.Workers {
		w, err := worker.New(worker.Options{
			Servers: []string{url}, Token: token, Group: rig.WorkerGroup, Instance: fmt.Sprintf("idle-%d", i),
			Handlers: map[string]sdk.Handler{"idle": noop}, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return nil, dismiss, fmt.Errorf("make a worker: %w", err)
		}
		crew = append(crew, w)
		ended.Go(func() { _ = w.Run(working) }) // one that is missing is seen below
	}
	for until := b.Clock.Monotonic() + joinedWithin; ; {
		there := 0
		for _, w := range crew {
			if w.LeaseLeft() > 0 {
				there++
			}
		}
		if there == len(crew) {
			return crew, dismiss, nil
		}
		if b.Clock.Monotonic() > until {
			return nil, dismiss, fmt.Errorf("%w: %d of %d have a lease after %s", errAbsent, there, len(crew), joinedWithin)
		}
		if err := b.Sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, dismiss, err
		}
	}
}

var errAbsent = errors.New("workers are missing")
