package bench

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Failover is what the loss of a node cost, over all rounds.
type Failover struct {
	Rounds  int  `json:"rounds"`
	Freeze  bool `json:"freeze"`
	LeaseMs int  `json:"leaseMs"`
	// Partitions are those that the victims owned and that had jobs, Gap is
	// from the loss to the first fire of each that another node began.
	Partitions int       `json:"partitions"`
	Gap        *Lateness `json:"gapMs"`
	// Lost are runs that were at work on the victims, Retried is from the loss
	// to the moment at which each began again.
	LostRuns int       `json:"lostRuns"`
	Retried  *Lateness `json:"retriedMs"`
	// Refused are late results of frozen nodes that the store kept as evidence.
	Refused int `json:"refused"`
}

// failover loses a node in each round, kill -9 or frozen.
func (b *bench) failover(ctx context.Context) (Result, error) {
	return b.underLoad(ctx, func(ctx context.Context, l *load, r *Result) error {
		f := &Failover{Rounds: b.Rounds, Freeze: b.Freeze, LeaseMs: l.cfg.Engine.LeaseMs}
		var gaps, again []float64
		for i := range b.Rounds {
			loss, err := l.lose(ctx, l.members[i%len(l.members)])
			if err != nil {
				return err
			}
			g, a := loss.gaps(l.ledger.entries(), l.partitions), loss.again(l.ledger.entries())
			f.Partitions, f.LostRuns = f.Partitions+loss.partitions(l.partitions), f.LostRuns+len(loss.held(l.ledger.entries()))
			gaps, again = append(gaps, g...), append(again, a...)
			b.note("round %d: %s was lost; its fires went on after %s, its runs began again after %s",
				i+1, l.members[loss.victim-1].cfg.Node.ID, summarize(g), summarize(a))
		}
		f.Gap, f.Retried = summarize(gaps), summarize(again)
		var err error
		f.Refused, err = b.scratch.evidence(ctx)
		r.Failover = f
		return err
	})
}

// loss is a node that was lost.
type loss struct {
	victim uint8
	owned  place
	// at is the moment, in µs since the epoch.
	at int64
}

// lose takes a node away, waits until the others have taken everything over,
// and lets it come back.
func (l *load) lose(ctx context.Context, m *member) (loss, error) {
	b := l.b
	owned, _ := m.at()
	out := loss{victim: m.number, owned: owned, at: l.now().UnixMicro()}
	if b.Freeze {
		m.signal(syscall.SIGSTOP)
		if err := l.down(ctx, m); err != nil {
			return out, err
		}
	} else {
		m.end()
	}
	err := l.await(ctx, stallBound+3*l.lease(), "the others did not take over", func() (bool, error) {
		entries := l.ledger.entries()
		return len(out.gaps(entries, l.partitions)) >= out.partitions(l.partitions) && len(out.again(entries)) >= len(out.held(entries)), nil
	})
	if err != nil && !errors.Is(err, errTooLong) { // too late is lost, and told so
		return out, err
	}
	if b.Freeze {
		m.signal(syscall.SIGCONT)
		err = l.returned(ctx, m, owned.epoch)
	} else {
		err = m.start()
	}
	if err != nil {
		return out, err
	}
	if err := l.join(ctx); err != nil {
		return out, err
	}
	return out, b.sleep(ctx, settled)
}

// down waits until the others have declared a node dead.
func (l *load) down(ctx context.Context, m *member) error {
	return l.await(ctx, stallBound+3*l.lease(), "the frozen node was not declared dead", func() (bool, error) {
		status, err := l.b.scratch.status(ctx, m.cfg.Node.ID)
		return status == entity.NodeDown, err
	})
}

// returned waits until a node that was frozen works under a new epoch.
func (l *load) returned(ctx context.Context, m *member, before uint32) error {
	err := l.await(ctx, stallBound, "it did not come back", func() (bool, error) {
		now, _ := m.at()
		return now.epoch > before, m.fell()
	})
	if err != nil {
		return m.complaint(fmt.Errorf("it was frozen: %w", err))
	}
	return nil
}

// partitions counts those of the victim that have jobs.
func (o loss) partitions(ofJobs []int) int {
	var p place
	for _, partition := range ofJobs {
		if o.owned.has(partition) {
			p.add(partition)
		}
	}
	return p.count()
}

// gaps is from the loss to the first fire that another node began, of each
// partition of the victim, in ms.
func (o loss) gaps(entries []sighting, ofJobs []int) []float64 {
	first := map[int]int64{}
	for _, s := range entries {
		partition := ofJobs[s.job]
		if s.node == o.victim || s.attempt > 1 || s.at <= o.at || !o.owned.has(partition) {
			continue
		}
		if at, ok := first[partition]; !ok || s.at < at {
			first[partition] = s.at
		}
	}
	return msAfter(o.at, first)
}

// sure is how much longer than its entry a long run surely lasts.
const sure = longSpan - 100*time.Millisecond

// held are the runs that were surely at work on the victim.
func (o loss) held(entries []sighting) map[fire]uint8 {
	held := map[fire]uint8{}
	for _, s := range entries {
		if s.node == o.victim && s.long && s.at <= o.at && s.at > o.at-sure.Microseconds() {
			held[fire{s.job, s.nominal}] = s.attempt
		}
	}
	return held
}

// again is from the loss to the next attempt of each run that was at work, in ms.
func (o loss) again(entries []sighting) []float64 {
	held, first := o.held(entries), map[fire]int64{}
	for _, s := range entries {
		f := fire{s.job, s.nominal}
		if was, ok := held[f]; !ok || s.attempt <= was {
			continue
		}
		if at, ok := first[f]; !ok || s.at < at {
			first[f] = s.at
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
