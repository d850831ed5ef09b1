package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
)

// quietReap is how often this node checks a dead node that held nothing at the last
// check: a commit in progress at its death may still become visible.
const quietReap = 15 * time.Second

// reaping is when this node checks a dead node next, by the monotonic clock.
type reaping struct {
	epoch int64
	next  time.Duration
}

// WorkOnce does what may take long: it recovers the runs of dead nodes, and plans
// the partitions that are new.
func (m *Member) WorkOnce(ctx context.Context) error {
	var err error
	if m.changed.Swap(false) {
		if err = m.deps.Planner.Rebalanced(ctx); err != nil {
			err = fmt.Errorf("plan the partitions that are new: %w", err)
		}
	}
	if !m.deps.Lease.Holds() {
		return err
	}
	return errors.Join(m.reap(ctx, m.lastView().nodes), err)
}

// reap recovers the runs of the dead nodes that are assigned to this one. The hash of
// a node's id selects one scheduler for it. If two schedulers do the work, no harm
// is done.
func (m *Member) reap(ctx context.Context, nodes []entity.Node) error {
	schedulers, now := partition.Members(nodes), m.deps.Clock.Monotonic()
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
		held, err := m.deps.Worker.Reap(ctx, n.ID, n.Epoch)
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

// sever ends the store sessions of a dead node. Frozen inside a transaction, the node
// would hold rows that others wait for (engine rule 11).
func (m *Member) sever(ctx context.Context, n entity.Node) {
	if n.DownCause == entity.DownLeft {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, m.timing.Lease/3)
	defer cancel()
	switch ended, err := m.deps.Registry.Sever(bounded, n); {
	case err != nil:
		m.deps.Logger.Warn("this node could not end the store sessions of a dead node; the store frees its locks when it "+
			"notices",
			"node", n.ID, "error", err)
	case ended > 0:
		m.deps.Logger.Info("this node ended the store sessions of a dead node", "node", n.ID, "sessions", ended)
	}
}
