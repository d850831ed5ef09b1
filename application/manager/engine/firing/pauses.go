package firing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
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
	// reading has room for one read at a time: who waits for a store that is silent waits no longer than it may.
	reading turns.Turn

	mu     sync.Mutex
	groups map[string]entity.Group
	read   time.Duration
	known  bool
	// changes counts GroupsChanged: what was read before the latest one is old.
	changes int
}

// fresh returns what is known, if it is not too old at a moment.
func (p *groupPauses) fresh(now time.Duration) (groups map[string]entity.Group, changes int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.groups, p.changes, p.known && now-p.read < pausesAge
}

// learn takes what was read since a moment, after so many changes.
func (p *groupPauses) learn(groups map[string]entity.Group, since time.Duration, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups, p.read, p.known = groups, since, changes == p.changes
}

// GroupsChanged makes the planner ask which groups are paused before it fires
// again.
func (m *JobManager) GroupsChanged() {
	m.pauses.mu.Lock()
	defer m.pauses.mu.Unlock()
	m.pauses.known = false
	m.pauses.changes++
}

// pausedGroups are the groups that hold jobs, by name. They are read anew when what
// is known is too old: of a pause its jobs learn one after the other, and none of
// them is to fire meanwhile.
func (m *JobManager) pausedGroups(ctx context.Context) (map[string]entity.Group, error) {
	if groups, _, ok := m.pauses.fresh(m.Clock.Monotonic()); ok {
		return groups, nil
	}
	if err := m.pauses.reading.Take(ctx); err != nil {
		return nil, fmt.Errorf("read which groups are paused: %w", err)
	}
	defer m.pauses.reading.Give()
	now := m.Clock.Monotonic()
	known, changes, ok := m.pauses.fresh(now)
	if ok { // another one has read it meanwhile
		return known, nil
	}
	groups, err := m.Groups.DivergedGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which groups are paused: %w", err)
	}
	byName := make(map[string]entity.Group, len(groups))
	for _, g := range groups {
		byName[g.Name] = g
	}
	m.pauses.learn(byName, now, changes)
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
