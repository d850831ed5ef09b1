package bench

import (
	"context"
	"fmt"
	"syscall"
)

// Rolling is what it took to restart the nodes, one after the other.
type Rolling struct {
	Rounds   int `json:"rounds"`
	Restarts int `json:"restarts"`
	// Stop is from the signal to the end of the process, Join from its start to
	// the moment at which it had its share of the partitions.
	Stop *Lateness `json:"stopMs"`
	Join *Lateness `json:"joinMs"`
}

// rolling restarts every node in each round.
func (b *bench) rolling(ctx context.Context) (Result, error) {
	return b.underLoad(ctx, func(ctx context.Context, l *load, r *Result) error {
		out := &Rolling{Rounds: b.Rounds}
		var stops, joins []float64
		for range b.Rounds {
			for _, m := range l.members {
				stop, join, err := l.restart(ctx, m)
				if err != nil {
					return err
				}
				b.note("%s stopped in %.0f ms and was back after %.0f ms", m.cfg.Node.ID, stop, join)
				out.Restarts++
				stops, joins = append(stops, stop), append(joins, join)
			}
		}
		out.Stop, out.Join = summarize(stops), summarize(joins)
		r.Rolling = out
		return nil
	})
}

// restart stops a node in order and starts it again.
func (l *load) restart(ctx context.Context, m *member) (stopMs, joinMs float64, err error) {
	b, at := l.b, l.b.clock.Monotonic()
	m.signal(syscall.SIGTERM)
	if err := l.stopped(ctx, m); err != nil {
		return 0, 0, fmt.Errorf("restart a node: %w", err)
	}
	down := b.clock.Monotonic()
	if err := m.start(); err != nil {
		return 0, 0, err
	}
	if err := l.join(ctx); err != nil {
		return 0, 0, err
	}
	up := b.clock.Monotonic()
	return float64((down - at).Milliseconds()), float64((up - down).Milliseconds()), b.sleep(ctx, settled)
}
