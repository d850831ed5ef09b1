package notifying

import (
	"maps"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// leases are those of other nodes whose time is over by the clock of the store: the attempt
// that each belongs to, and when this node saw it first, in monotonic time. A clock that is
// set forward ends the lease of a node that sends; so it takes a lease that this node has
// seen unchanged for the time of one, too.
type leases map[string]seenLease

type seenLease struct {
	attempt int
	at      time.Duration
}

const (
	// maxLeases bounds what a node remembers; those that it forgets begin anew.
	maxLeases = 10_000
	// maxSeen bounds how many of them a look reads beside those that it may take.
	maxSeen = 500
)

// over reports whether nobody sends a notification any more under the lease it came with.
func (l leases) over(d alert.Notification, now time.Duration) bool {
	seen, known := l[d.ID]
	if !known || seen.attempt != d.Attempts {
		l.forget(now)
		l[d.ID] = seenLease{d.Attempts, now}
		return false
	}
	return now-seen.at >= alert.LeaseTime
}

// forget drops what was seen so long ago that somebody has dealt with it, or all where it is
// too much.
func (l leases) forget(now time.Duration) {
	maps.DeleteFunc(l, func(_ string, s seenLease) bool {
		return now-s.at >= 10*alert.LeaseTime || len(l) >= maxLeases
	})
}

// mayTake reports whether no node sends a notification that is due. The lease of this node is
// over where its process does not send; that of a node that is DOWN is ended in the store.
func (n *Notifier) mayTake(d alert.Notification) bool {
	return d.LeaseUntil.IsZero() || d.LeaseNode == n.NodeID && !n.gates.sending(d.ID) ||
		d.LeaseNode != n.NodeID && n.leases.over(d, n.Clock.Monotonic())
}
