package enginetest

import "sync/atomic"

// Lease holds until it is lost. Safe for concurrent use.
type Lease struct{ lost atomic.Bool }

// Holds implements running.Lease and firing.Lease.
func (l *Lease) Holds() bool { return !l.lost.Load() }

// Lose takes the right away, Regain gives it back.
func (l *Lease) Lose() { l.lost.Store(true) }

// Regain ends a Lose.
func (l *Lease) Regain() { l.lost.Store(false) }
