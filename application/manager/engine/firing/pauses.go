package firing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Groups tells which groups hold jobs that may not know of it yet.
type Groups interface {
	// DivergedGroups returns the groups that some jobs do not follow yet.
	DivergedGroups(ctx context.Context) ([]entity.Group, error)
}

// pausesAge is how old the knowledge of such groups may be when a batch is fired.
// A node that was frozen asks before its first one.
const pausesAge = 500 * time.Millisecond

// groupPauses is what is known of groups that hold jobs; they are few, mostly none. Safe
// for concurrent use.
type groupPauses struct {
	mu     sync.Mutex
	groups map[string]entity.Group
	read   time.Duration
	known  bool
}

// GroupsChanged makes the planner ask which groups are paused before it fires
// again.
func (m *JobManager) GroupsChanged() {
	m.pauses.mu.Lock()
	defer m.pauses.mu.Unlock()
	m.pauses.known = false
}

// pausedGroups are the groups that hold jobs, by name. They are read anew when what
// is known is too old: of a pause its jobs learn one after the other, and none of
// them is to fire meanwhile.
func (m *JobManager) pausedGroups(ctx context.Context) (map[string]entity.Group, error) {
	m.pauses.mu.Lock()
	defer m.pauses.mu.Unlock()
	now := m.Clock.Monotonic()
	if m.pauses.known && now-m.pauses.read < pausesAge {
		return m.pauses.groups, nil
	}
	groups, err := m.Groups.DivergedGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which groups are paused: %w", err)
	}
	byName := make(map[string]entity.Group, len(groups))
	for _, g := range groups {
		byName[g.Name] = g
	}
	m.pauses.groups, m.pauses.read, m.pauses.known = byName, now, true
	return byName, nil
}

// pausedByGroup reports that a group keeps a job from being planned.
func pausedByGroup(job *entity.Job, groups map[string]entity.Group) bool {
	if len(groups) == 0 {
		return false
	}
	own, ofAll := groups[job.Group], groups[entity.AllJobs]
	return own.Name != "" && own.Holds(job.NextFireTime) || (ofAll.Paused || !ofAll.ResumedAt.IsZero()) &&
		ofAll.Holds(job.NextFireTime)
}

// excludedGroups are the groups whose jobs a scan need not read, by name. Jobs of further ones
// are read and left out here.
func excludedGroups(groups map[string]entity.Group) []entity.Group {
	out := make([]entity.Group, 0, min(len(groups), repository.MaxWithout))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[name]; len(out) < repository.MaxWithout && (g.Paused || !g.Converged && !g.ResumedAt.IsZero()) {
			out = append(out, g)
		}
	}
	return out
}
