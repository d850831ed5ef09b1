package standby

import (
	"context"
	"errors"
	"time"
)

// Leadership is the interface of package periodic.
type Leadership interface {
	IsLeader(ctx context.Context) error
	Since() (since time.Duration, ok bool)
}

// errStandsBy is why a node that stands by does not lead.
var errStandsBy = errors.New("this node stands by")

// lead is a leadership that rests while a gate is closed.
type lead struct {
	gate *Gate
	next Leadership
}

// Lead returns the leadership of a node that may stand by. A nil next is a node that is
// alone: it leads while the gate is open.
func (g *Gate) Lead(next Leadership) Leadership { return lead{g, next} }

// IsLeader implements periodic.Leadership.
func (l lead) IsLeader(ctx context.Context) error {
	switch {
	case !l.gate.Open():
		return errStandsBy
	case l.next == nil:
		return nil
	}
	return l.next.IsLeader(ctx)
}

// Since implements periodic.Leadership.
func (l lead) Since() (since time.Duration, ok bool) {
	opened, ok := l.gate.Opened()
	if !ok || l.next == nil {
		return opened, ok
	}
	since, ok = l.next.Since()
	return max(since, opened), ok
}
