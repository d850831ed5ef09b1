// Package monitor tells the state of things: what is degraded, the overview, and
// the planned load.
package monitor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Tasks returns the state of this node's periodic tasks.
type Tasks interface {
	Statuses() []periodic.Status
}

// Pinger checks that the store answers.
type Pinger interface {
	Ping(ctx context.Context) error
}

// Trouble is a part of this node that does not work as it should.
type Trouble struct {
	// Part is stable and for programs. Reason is for people and holds no secrets.
	Part, Reason string
	// Since is when this node first noticed it, by its own clock.
	Since time.Time
	// Blocks is true where the node cannot work, so that it should get no requests.
	Blocks bool
}

// Part watches something that may fail. Check must not block; an empty reason means
// no trouble.
type Part struct {
	Name  string
	Check func() (reason string, blocks bool)
}

// The parts that every node has.
const (
	PartStore = "store"
	PartTask  = "duty"
	PartClock = "clock"
	// PartNode is about other nodes.
	PartNode = "node"
)

// pingBound bounds how long a probe waits for the store.
const pingBound = 2 * time.Second

// MonitorService reports the health of the node. Safe for concurrent use.
type MonitorService struct {
	store Pinger
	tasks Tasks
	clock clock.Clock
	parts []Part

	mu sync.Mutex
	// since is when this node first noticed a trouble, by part.
	since map[string]time.Time
}

// NewMonitorService returns a monitor of the store, the tasks and the parts.
func NewMonitorService(store Pinger, tasks Tasks, c clock.Clock, parts ...Part) *MonitorService {
	return &MonitorService{store: store, tasks: tasks, clock: c, parts: parts, since: map[string]time.Time{}}
}

// NotReady returns an error that names the troubles that block, or nil.
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

// Degraded returns the troubles of this node. It asks the store.
func (s *MonitorService) Degraded(ctx context.Context) []Trouble {
	bounded, cancel := context.WithTimeout(ctx, pingBound)
	defer cancel()
	var found []Trouble
	if err := s.store.Ping(bounded); err != nil {
		found = append(found, Trouble{Part: PartStore, Reason: "the store does not answer", Blocks: true})
	}
	return s.dated(append(found, s.Known()...))
}

// Known returns the troubles that are known without the store, without dates.
func (s *MonitorService) Known() []Trouble {
	var found []Trouble
	for _, t := range s.tasks.Statuses() {
		if t.Age > t.Limit {
			reason := fmt.Sprintf("%s has not ticked for %s", t.Name, t.Age.Round(time.Second))
			found = append(found, Trouble{
				Part: PartTask, Reason: reason, Blocks: periodic.Blocks(t.Name), Since: s.clock.Now().Add(-t.Age),
			})
		}
	}
	for _, p := range s.parts {
		if reason, blocks := p.Check(); reason != "" {
			found = append(found, Trouble{Part: p.Name, Reason: reason, Blocks: blocks})
		}
	}
	return found
}

// Watch records since when a trouble lasts. A task calls it at intervals, so that the
// first answer has the right dates.
func (s *MonitorService) Watch(context.Context) error {
	s.dated(s.Known())
	return nil
}

// dated fills in since when each trouble lasts, and forgets troubles that are over.
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
