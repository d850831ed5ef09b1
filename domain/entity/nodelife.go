package entity

import "time"

// NodeLife is what one life of a process publishes of itself, so that others can
// judge it. The zero value is an older program's, which publishes nothing.
type NodeLife struct {
	// Lease is how long its beats are good for: it stops its work sooner.
	Lease time.Duration
	// Boot names the process: another one has another boot.
	Boot string
	// Server is the store's server, with its start, that LockSession and Sessions
	// are of.
	Server string
	// Database is the database of that server which the sessions use: a copy of a store
	// may lie beside the original.
	Database string
	// LockSession is the session that holds the lock of the node's id; 0 for none.
	LockSession int64
	// Sessions are the node's connections to the store.
	Sessions []int64
}

// The terms of a program that publishes none: it beats each second, and may work
// for nine after its last beat.
const (
	formerBeat  = time.Second
	formerLease = 9 * time.Second
)

// Lease is how old a node's beat must be before others may declare it DOWN.
func (n Node) Lease() time.Duration {
	if n.Life.Lease <= 0 {
		return formerLease
	}
	return n.Life.Lease
}

// SuspectAfter is the age from which a beat of the node is late. The node then missed two
// beats, and a beat may take half a period. A lease is six beats.
func (n Node) SuspectAfter() time.Duration {
	if n.Life.Lease <= 0 {
		return formerBeat * 5 / 2
	}
	return n.Life.Lease * 5 / 12
}

// shownDead is how long after its last beat a node that died is missed, unless it
// comes back or is forgotten sooner.
const shownDead = 24 * time.Hour

// Died reports a node that is DOWN, did not leave in order, and is missed still.
func (n Node) Died(now time.Time) bool {
	return n.Status == NodeDown && n.DownCause != DownLeft && now.Sub(n.LastHeartbeat) < shownDead
}

// The causes of DOWN.
const (
	// DownLeft: it stopped in order.
	DownLeft = "LEFT"
	// DownLease: its lease ran out.
	DownLease = "LEASE"
	// DownProof: its death was proven.
	DownProof = "PROOF"
	// DownYield: it said itself that it had stopped.
	DownYield = "YIELD"
)
