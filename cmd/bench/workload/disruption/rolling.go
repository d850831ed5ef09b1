package disruption

import (
	"context"
	"fmt"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
)

// Rolling measures restarts of the nodes, one after the other.
type Rolling struct {
	*rig.Bench
	// Rate is the fires a second, Rounds how often every node is restarted.
	Rate, Rounds int
}

// Run restarts every node in each round.
func (b Rolling) Run(ctx context.Context) (report.Result, error) {
	return underLoad(ctx, b.Bench, b.Rate, func(ctx context.Context, l *loadedCluster, r *report.Result) error {
		out := &report.Rolling{Rounds: b.Rounds}
		var stops, joins []float64
		for range b.Rounds {
			for _, m := range l.Members {
				stop, join, err := l.restart(ctx, m)
				if err != nil {
					return err
				}
				b.Note("%s stopped in %.0f ms and was back after %.0f ms", m.ID(), stop, join)
				out.Restarts++
				stops, joins = append(stops, stop), append(joins, join)
			}
		}
		out.Stop, out.Join = measure.Summarize(stops), measure.Summarize(joins)
		r.Rolling = out
		return nil
	})
}

// restart stops a node in order and starts it again.
func (l *loadedCluster) restart(ctx context.Context, m *rig.Member) (stopMs, joinMs float64, err error) {
	b, at := l.b, l.b.Clock.Monotonic()
	m.Signal(syscall.SIGTERM)
	if err := l.AwaitStopped(ctx, m); err != nil {
		return 0, 0, fmt.Errorf("restart a node: %w", err)
	}
	down := b.Clock.Monotonic()
	if err := m.Start(); err != nil {
		return 0, 0, err
	}
	if err := l.AwaitShared(ctx); err != nil {
		return 0, 0, err
	}
	up := b.Clock.Monotonic()
	return float64((down - at).Milliseconds()), float64((up - down).Milliseconds()), b.Sleep(ctx, recoverySpan)
}
