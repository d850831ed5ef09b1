package disruption

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
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
			g, a := loss.gaps(l.ledger.Starts(), l.partitions), loss.retryDelays(l.ledger.Starts())
			f.Partitions, f.LostRuns = f.Partitions+loss.partitions(l.partitions), f.LostRuns+len(loss.held(l.ledger.Starts()))
			gaps, again = append(gaps, g...), append(again, a...)
			b.Note("round %d: %s was lost; its fires went on after %s, its runs began again after %s",
				i+1, l.Members[loss.victim-1].ID(), measure.Summarize(g), measure.Summarize(a))
		}
		f.Gap, f.Retried = measure.Summarize(gaps), measure.Summarize(again)
		var err error
		f.Refused, err = b.Scratch.RefusedResults(ctx)
		r.Failover = f
		return err
	})
}

// nodeLoss is a node that was lost.
type nodeLoss struct {
	victim uint8
	owned  measure.PartitionSet
	// at is the moment, in µs since the epoch.
	at int64
}

// loseNode takes a node away, waits until the others have taken everything over,
// and lets it come back.
func (l *loadedCluster) loseNode(ctx context.Context, m *rig.Member, freeze bool) (nodeLoss, error) {
	b := l.b
	owned, _ := m.State()
	out := nodeLoss{victim: m.Number, owned: owned, at: l.Now().UnixMicro()}
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
		return len(out.gaps(entries, l.partitions)) >= out.partitions(l.partitions) &&
			len(out.retryDelays(entries)) >= len(out.held(entries)), nil
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

// partitions counts those of the victim that have jobs.
func (o nodeLoss) partitions(ofJobs []int) int {
	var p measure.PartitionSet
	for _, partition := range ofJobs {
		if o.owned.Has(partition) {
			p.Add(partition)
		}
	}
	return p.Count()
}

// gaps is from the loss to the first fire that another node began, of each
// partition of the victim, in ms.
func (o nodeLoss) gaps(entries []measure.StartEvent, ofJobs []int) []float64 {
	first := map[int]int64{}
	for _, s := range entries {
		partition := ofJobs[s.Job]
		if s.Node == o.victim || s.Attempt > 1 || s.At <= o.at || !o.owned.Has(partition) {
			continue
		}
		if at, ok := first[partition]; !ok || s.At < at {
			first[partition] = s.At
		}
	}
	return msAfter(o.at, first)
}

// sure is how much longer than its entry a long run surely lasts.
const sure = node.LongSpan - 100*time.Millisecond

// held are the runs that were surely at work on the victim.
func (o nodeLoss) held(entries []measure.StartEvent) map[measure.Fire]uint8 {
	held := map[measure.Fire]uint8{}
	for _, s := range entries {
		if s.Node == o.victim && s.Long && s.At <= o.at && s.At > o.at-sure.Microseconds() {
			held[measure.Fire{Job: s.Job, ScheduledTime: s.ScheduledTime}] = s.Attempt
		}
	}
	return held
}

// retryDelays is from the loss to the next attempt of each run that was at work, in ms.
func (o nodeLoss) retryDelays(entries []measure.StartEvent) []float64 {
	held, first := o.held(entries), map[measure.Fire]int64{}
	for _, s := range entries {
		f := measure.Fire{Job: s.Job, ScheduledTime: s.ScheduledTime}
		if was, ok := held[f]; !ok || s.Attempt <= was {
			continue
		}
		if at, ok := first[f]; !ok || s.At < at {
			first[f] = s.At
		}
	}
	return msAfter(o.at, first)
}

// msAfter is how long after a moment each of others was, in ms.
func msAfter[K comparable](from int64, others map[K]int64) []float64 {
	var ms []float64
	for _, at := range others {
		ms = append(ms, float64(at-from)/1000)
	}
	return ms
}
