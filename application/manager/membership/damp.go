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

// release lets the others have the partitions at once.
func (m *Member) release(ctx context.Context) error {
	if m.Damper == nil {
		return nil
	}
	return m.Damper.Release(ctx)
}
