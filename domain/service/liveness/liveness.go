// Package liveness decides from the registry which nodes are alive (engine
// rules 25 and 27). It knows rows and the database's time, and nothing of how
// they are read.
package liveness

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Terms are the spans that nodes are judged by. All nodes of a cluster should
// have the same.
type Terms struct {
	// Beat is the time between two beats of a node.
	Beat time.Duration
	// Lease is how long a beat is good for: what a node does without having
	// beaten for longer, it does without right.
	Lease time.Duration
}

// SuspectAfter is the age of a beat from which a node is SUSPECT: two beats
// were missed, and half of one is what a beat may take.
func (t Terms) SuspectAfter() time.Duration { return t.Beat*2 + t.Beat/2 }

// sighting is what a former look saw of a node that was beyond its lease.
type sighting struct {
	epoch int64
	beat  time.Time
	// first is when it was first seen so, by the database's clock.
	first time.Time
}

// Watch judges the nodes, look by look. It is not safe for concurrent use.
type Watch struct {
	terms Terms
	late  map[string]sighting
	// trusted is from when on the beats of others count: a watch that was
	// blind itself cannot tell a dead node from one that was as blind.
	trusted time.Time
}

// NewWatch returns a watch that has seen nothing; it judges nobody before one
// lease has passed.
func NewWatch(terms Terms) *Watch { return &Watch{terms: terms, late: map[string]sighting{}} }

// Blind tells the watch that it could not see until now, the present time of
// the database.
func (w *Watch) Blind(now time.Time) {
	w.trusted = now.Add(w.terms.Lease)
	clear(w.late)
}

// Verdict is a change of a node's state: it holds only while the row still has
// this epoch and this beat.
type Verdict struct {
	Node   entity.Node
	Status entity.NodeStatus
}

// Judge looks at the registry. now is the database's time of the look; self is
// left out, because a node that looks is alive.
func (w *Watch) Judge(now time.Time, nodes []entity.Node, self string) []Verdict {
	var out []Verdict
	if w.trusted.IsZero() {
		w.Blind(now)
	}
	for _, n := range nodes {
		if n.ID == self || n.Status == entity.NodeDown {
			delete(w.late, n.ID)
			continue
		}
		if status := w.judge(now, n); status != n.Status {
			out = append(out, Verdict{Node: n, Status: status})
		}
	}
	return out
}

func (w *Watch) judge(now time.Time, n entity.Node) entity.NodeStatus {
	age := now.Sub(n.LastHeartbeat)
	if age <= w.terms.Lease || now.Before(w.trusted) {
		delete(w.late, n.ID)
		if age > w.terms.SuspectAfter() && n.Status == entity.NodeUp && !now.Before(w.trusted) {
			return entity.NodeSuspect
		}
		return n.Status
	}
	seen, again := w.late[n.ID]
	if !again || seen.epoch != n.Epoch || !seen.beat.Equal(n.LastHeartbeat) {
		w.late[n.ID] = sighting{epoch: n.Epoch, beat: n.LastHeartbeat, first: now}
		if n.Status == entity.NodeUp {
			return entity.NodeSuspect
		}
		return n.Status
	}
	if now.Sub(seen.first) < w.terms.Beat {
		return n.Status
	}
	delete(w.late, n.ID)
	return entity.NodeDown
}

// Schedulers are the nodes that share the partitions: those that plan and are
// not DOWN. A SUSPECT node keeps its partitions until it is, so that a hiccup
// moves nothing; a DRAINING one goes on planning, it only runs nothing new.
func Schedulers(nodes []entity.Node) []string {
	var out []string
	for _, n := range nodes {
		if n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) {
			out = append(out, n.ID)
		}
	}
	return out
}

// Executors are the nodes that take new runs: UP, and not draining.
func Executors(nodes []entity.Node) []entity.Node {
	var out []entity.Node
	for _, n := range nodes {
		if n.Status == entity.NodeUp && n.Has(entity.RoleExecutor) {
			out = append(out, n)
		}
	}
	return out
}
