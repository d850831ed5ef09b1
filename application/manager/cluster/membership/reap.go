package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
)

// quietReap is how often a dead node is looked at that held nothing at the
// last look: a commit that was under way when it died may still come to light.
const quietReap = 15 * time.Second

// reaping is when a dead node is looked at next, by the monotonic clock.
type reaping struct {
	epoch int64
	next  time.Duration
}

// WorkOnce does what may take long: it takes over from the dead, and plans the
// partitions that are new.
func (m *Member) WorkOnce(ctx context.Context) error {
	var err error
	if m.changed.Swap(false) {
		if err = m.Planner.Rebalanced(ctx); err != nil {
			err = fmt.Errorf("plan the partitions that are new: %w", err)
		}
	}
	if !m.Lease.Holds() {
		return err
	}
	return errors.Join(m.reap(ctx, m.seen().nodes), err)
}

// reap recovers the runs of those dead nodes that fall to this one: each is
// looked after by the scheduler that its name hashes to, so that one does the
// work; that others might is harmless.
func (m *Member) reap(ctx context.Context, nodes []entity.Node) error {
	schedulers, now := partition.Members(nodes), m.Clock.Monotonic()
	var errs []error
	for _, n := range nodes {
		if n.Status != entity.NodeDown {
			delete(m.reaps, n.ID)
			continue
		}
		if partition.Owner(entity.PartitionOf(n.ID), schedulers) != m.Self().ID {
			continue
		}
		last := m.reaps[n.ID]
		if last.epoch == n.Epoch && now < last.next {
			continue
		}
		if last.epoch != n.Epoch {
			m.sever(ctx, n)
		}
		held, err := m.Worker.Reap(ctx, n.ID, n.Epoch)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		next := reaping{epoch: n.Epoch}
		if held == 0 {
			next.next = now + quietReap
		}
		m.reaps[n.ID] = next
	}
	return errors.Join(errs...)
}

// sever ends the store sessions of a dead node: frozen inside of a transaction,
// it would hold rows that others wait for (engine rule 11).
func (m *Member) sever(ctx context.Context, n entity.Node) {
	if n.DownCause == entity.DownLeft {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Lease/3)
	defer cancel()
	switch ended, err := m.Registry.Sever(bounded, n); {
	case err != nil:
		m.Logger.Warn("the store sessions of a dead node could not be ended; locks that it holds go when the server finds out", "node", n.ID, "error", err)
	case ended > 0:
		m.Logger.Info("store sessions of a dead node were ended", "node", n.ID, "sessions", ended)
	}
}
