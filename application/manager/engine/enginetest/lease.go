package enginetest

import "sync/atomic"

// Lease holds until it is lost. Safe for concurrent use.
type Lease struct {
	lost  atomic.Bool
	asked atomic.Int64
}

// Holds implements running.Lease and firing.Lease.
func (l *Lease) Holds() bool {
	l.asked.Add(1)
	return !l.lost.Load()
}

// Asked is how often the engine has asked for the lease so far.
func (l *Lease) Asked() int64 { return l.asked.Load() }

// Lose takes the right away, Regain gives it back.
func (l *Lease) Lose() { l.lost.Store(true) }

// Regain ends a Lose.
func (l *Lease) Regain() { l.lost.Store(false) }
