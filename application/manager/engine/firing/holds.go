package firing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Groups tells which groups hold jobs that may not know of it yet.
type Groups interface {
	// DivergedGroups returns the groups that some jobs do not follow yet.
	DivergedGroups(ctx context.Context) ([]entity.Group, error)
}

// holdsAge is how old the knowledge of such groups may be when a batch is fired.
// A node that was frozen asks before its first one.
const holdsAge = 500 * time.Millisecond

// holds is what is known of groups that hold jobs; they are few, mostly none. Safe
// for concurrent use.
type holds struct {
	mu     sync.Mutex
	groups map[string]entity.Group
	read   time.Duration
	known  bool
}

// GroupsChanged makes the planner ask which groups are paused before it fires
// again.
func (m *JobManager) GroupsChanged() {
	m.groupHolds.mu.Lock()
	defer m.groupHolds.mu.Unlock()
	m.groupHolds.known = false
}

// heldGroups are the groups that hold jobs, by name. They are read anew when what
// is known is too old: of a pause its jobs learn one after the other, and none of
// them is to fire meanwhile.
func (m *JobManager) heldGroups(ctx context.Context) (map[string]entity.Group, error) {
	m.groupHolds.mu.Lock()
	defer m.groupHolds.mu.Unlock()
	now := m.Clock.Monotonic()
	if m.groupHolds.known && now-m.groupHolds.read < holdsAge {
		return m.groupHolds.groups, nil
	}
	groups, err := m.Groups.DivergedGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which groups are paused: %w", err)
	}
	byName := make(map[string]entity.Group, len(groups))
	for _, g := range groups {
		byName[g.Name] = g
	}
	m.groupHolds.groups, m.groupHolds.read, m.groupHolds.known = byName, now, true
	return byName, nil
}

// held reports that a group keeps a job from being planned.
func held(job *entity.Job, groups map[string]entity.Group) bool {
	if len(groups) == 0 {
		return false
	}
	own, ofAll := groups[job.Group], groups[entity.AllJobs]
	return own.Name != "" && own.Holds(job.NextFireTime) || (ofAll.Paused || !ofAll.ResumedAt.IsZero()) && ofAll.Holds(job.NextFireTime)
}

// maxWithout bounds the groups whose jobs a scan leaves out in the store. Jobs of
// further ones are read and left out here.
const maxWithout = 200

// without are the groups whose jobs a scan need not read, by name.
func without(groups map[string]entity.Group) []entity.Group {
	out := make([]entity.Group, 0, min(len(groups), maxWithout))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if g := groups[name]; len(out) < maxWithout && (g.Paused || !g.Converged && !g.ResumedAt.IsZero()) {
			out = append(out, g)
		}
	}
	return out
}
