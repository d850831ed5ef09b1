package disruption

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Failover measures what the loss of a node costs.
type Failover struct {
	*rig.Bench
	// Rate is the fires a second, Rounds how often a node is lost.
	Rate, Rounds int
	// Freeze stops a node where it is, instead of killing it.
	Freeze bool
}

// Run loses a node in each round, kill -9 or frozen.
func (b Failover) Run(ctx context.Context) (report.Result, error) {
	return underLoad(ctx, b.Bench, b.Rate, func(ctx context.Context, l *loadedCluster, r *report.Result) error {
		f := &report.Failover{Rounds: b.Rounds, Freeze: b.Freeze, LeaseMs: int(l.Lease().Milliseconds())}
		var gaps, again []float64
		for i := range b.Rounds {
			loss, err := l.loseNode(ctx, l.Members[i%len(l.Members)], b.Freeze)
			if err != nil {
				return err
			}
			g, a := loss.Gaps(l.ledger.Starts(), l.partitions), loss.RetryDelays(l.ledger.Starts())
			f.Partitions, f.LostRuns = f.Partitions+loss.Partitions(l.partitions), f.LostRuns+len(loss.Held(l.ledger.Starts()))
			gaps, again = append(gaps, g...), append(again, a...)
			b.Note("round %d: %s was lost; its fires went on after %s, its runs began again after %s",
				i+1, l.Members[loss.Victim-1].ID(), measure.Summarize(g), measure.Summarize(a))
		}
		f.Gap, f.Retried = measure.Summarize(gaps), measure.Summarize(again)
		var err error
		f.Refused, err = b.Scratch.RefusedResults(ctx)
		r.Failover = f
		return err
	})
}

// loseNode takes a node away, waits until the others have taken everything over,
// and lets it come back.
func (l *loadedCluster) loseNode(ctx context.Context, m *rig.Member, freeze bool) (measure.Loss, error) {
	b := l.b
	owned, _ := m.State()
	out := measure.Loss{Victim: m.Number, Owned: owned, At: l.Now().UnixMicro()}
	if freeze {
		m.Signal(syscall.SIGSTOP)
		if err := l.awaitDown(ctx, m); err != nil {
			return out, err
		}
	} else {
		m.Kill()
	}
	err := l.Await(ctx, rig.StallBound+3*l.Lease(), "the other nodes did not take over", func() (bool, error) {
		entries := l.ledger.Starts()
		return len(out.Gaps(entries, l.partitions)) >= out.Partitions(l.partitions) &&
			len(out.RetryDelays(entries)) >= len(out.Held(entries)), nil
	})
	if err != nil && !errors.Is(err, rig.ErrTooLong) { // a late one counts as lost
		return out, err
	}
	if freeze {
		m.Signal(syscall.SIGCONT)
		err = l.awaitReturn(ctx, m, owned.Epoch)
	} else {
		err = m.Start()
	}
	if err != nil {
		return out, err
	}
	if err := l.AwaitShared(ctx); err != nil {
		return out, err
	}
	return out, b.Sleep(ctx, recoverySpan)
}

// awaitDown waits until the others have declared a node dead.
func (l *loadedCluster) awaitDown(ctx context.Context, m *rig.Member) error {
	return l.Await(ctx, rig.StallBound+3*l.Lease(), "the frozen node was not declared dead", func() (bool, error) {
		status, err := l.b.Scratch.NodeStatus(ctx, m.ID())
		return status == entity.NodeDown, err
	})
}

// awaitReturn waits until a node that was frozen works under a new epoch.
func (l *loadedCluster) awaitReturn(ctx context.Context, m *rig.Member, before uint32) error {
	err := l.Await(ctx, rig.StallBound, "it did not come back", func() (bool, error) {
		now, _ := m.State()
		return now.Epoch > before, m.Exited()
	})
	if err != nil {
		return m.WithLog(fmt.Errorf("it was frozen: %w", err))
	}
	return nil
}
