package service

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Loop is a background duty that must keep ticking.
type Loop struct {
	Name string
	// Age is the time since the last good tick; Limit what is still healthy.
	Age, Limit time.Duration
}

// Loops lists the duties of this node.
type Loops interface {
	Loops() []Loop
}

// Pinger checks that the store answers.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Trouble is something on this node that does not work as it should.
type Trouble struct {
	// Part is stable and for programs, Reason is for people and holds no secrets.
	Part, Reason string
	// Since is when it was first noticed, by this node's clock.
	Since time.Time
	// Blocks is true where the node cannot do its work, so that nobody should be
	// sent to it.
	Blocks bool
}

// Part watches something that may fail. Check must not block; an empty reason
// is none.
type Part struct {
	Name  string
	Check func() (reason string, blocks bool)
}

// The parts that every node has.
const (
	PartStore = "store"
	PartDuty  = "duty"
	PartClock = "clock"
	// PartNode is of other nodes.
	PartNode = "node"
)

// pingBound is how long a probe waits for the store.
const pingBound = 2 * time.Second

// MonitorService tells how the node is. Safe for concurrent use.
type MonitorService struct {
	store Pinger
	loops Loops
	clock clock.Clock
	parts []Part

	mu sync.Mutex
	// since is when troubles were noticed first, by part and, for duties, name.
	since map[string]time.Time
}

// NewMonitorService wires the parts.
func NewMonitorService(store Pinger, loops Loops, c clock.Clock, parts ...Part) *MonitorService {
	return &MonitorService{store: store, loops: loops, clock: c, parts: parts, since: map[string]time.Time{}}
}

// NotReady is an error that names the troubles that block, or nil.
func NotReady(troubles []Trouble) error {
	var why []string
	for _, t := range troubles {
		if t.Blocks {
			why = append(why, t.Reason)
		}
	}
	if len(why) == 0 {
		return nil
	}
	return fmt.Errorf("not ready: %s", strings.Join(why, "; "))
}

// Degraded is what does not work as it should on this node; the store is asked.
func (s *MonitorService) Degraded(ctx context.Context) []Trouble {
	bounded, cancel := context.WithTimeout(ctx, pingBound)
	defer cancel()
	var found []Trouble
	if err := s.store.Ping(bounded); err != nil {
		found = append(found, Trouble{Part: PartStore, Reason: "the store does not answer", Blocks: true})
	}
	return s.dated(append(found, s.Known()...))
}

// Known is what is known without asking the store, and undated.
func (s *MonitorService) Known() []Trouble {
	var found []Trouble
	for _, l := range s.loops.Loops() {
		if l.Age > l.Limit {
			found = append(found, Trouble{Part: PartDuty, Reason: fmt.Sprintf("%s has not ticked for %s", l.Name, l.Age.Round(time.Second)), Blocks: true, Since: s.clock.Now().Add(-l.Age)})
		}
	}
	for _, p := range s.parts {
		if reason, blocks := p.Check(); reason != "" {
			found = append(found, Trouble{Part: p.Name, Reason: reason, Blocks: blocks})
		}
	}
	return found
}

// Watch notes since when something is known to be wrong. It is called at
// intervals, so that the first who asks is told the truth.
func (s *MonitorService) Watch(context.Context) error {
	s.dated(s.Known())
	return nil
}

// dated fills in since when, and forgets what is well again.
func (s *MonitorService) dated(found []Trouble) []Trouble {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.since
	s.since = make(map[string]time.Time, len(found))
	for i, t := range found {
		if t.Since.IsZero() {
			since, known := before[t.Part]
			if !known {
				since = now
			}
			found[i].Since, s.since[t.Part] = since, since
		}
	}
	return found
}
