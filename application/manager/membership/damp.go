package membership

import (
	"context"
	"slices"
	"time"
)

// damped leaves out those partitions that another node still holds, as it has
// not seen yet that they are this one's. What is withheld for two leases is
// taken all the same: whoever holds it does not let go.
func (m *Member) damped(ctx context.Context, owned []int) []int {
	if m.Damper == nil {
		return owned
	}
	// A damper that is slow must not delay the beats.
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat/2)
	defer cancel()
	granted, err := m.Damper.Claim(bounded, owned)
	if err != nil {
		m.Logger.Debug("the partitions could not be claimed; they are scanned all the same", "error", err)
		return owned
	}
	now := m.Clock.Monotonic()
	before := m.withheld
	m.withheld = map[int]time.Duration{}
	return slices.DeleteFunc(slices.Clone(owned), func(p int) bool {
		if slices.Contains(granted, p) {
			return false
		}
		since, again := before[p]
		if !again {
			since = now
		}
		m.withheld[p] = since
		return now-since < 2*m.terms.Lease
	})
}

// handOver lets the others have at once what is this node's no more, and tells
// them; otherwise they would wait for the end of its claim.
func (m *Member) handOver(ctx context.Context, former, mine []int) {
	left := slices.DeleteFunc(slices.Clone(former), func(p int) bool { return slices.Contains(mine, p) })
	if m.Damper == nil || len(left) == 0 {
		return
	}
	if err := m.release(ctx, left); err != nil {
		m.Logger.Debug("the partitions could not be handed over; the others take them when the claim ends", "error", err)
		return
	}
	m.announce()
}

// release gives partitions free.
func (m *Member) release(ctx context.Context, partitions []int) error {
	if m.Damper == nil || len(partitions) == 0 {
		return nil
	}
	return m.Damper.Release(ctx, partitions)
}
