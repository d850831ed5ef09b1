package membership

import (
	"context"
	"errors"
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

// reap recovers the runs of those dead nodes that fall to this one: each is
// looked after by the scheduler that its name hashes to, so that one does the
// work; that others might is harmless.
func (m *Member) reap(ctx context.Context, nodes []entity.Node) error {
	schedulers, now := partition.Contest(nodes), m.Clock.Monotonic()
	var errs []error
	for _, n := range nodes {
		if n.Status != entity.NodeDown {
			delete(m.reaps, n.ID)
			continue
		}
		if partition.Owner(entity.PartitionOf(n.ID), schedulers) != m.node.ID {
			continue
		}
		if last := m.reaps[n.ID]; last.epoch == n.Epoch && now < last.next {
			continue
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
