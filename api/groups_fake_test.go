package api_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// memoryGroups keeps groups as the store does.
type memoryGroups struct{ rows map[string]entity.Group }

func newGroups() *memoryGroups {
	return &memoryGroups{rows: map[string]entity.Group{entity.AllJobs: {Converged: true, Version: 1, CreateTime: now, UpdateTime: now}}}
}

// followers are jobs that do as their groups say.
type followers struct{}

func (followers) FollowGroup(context.Context, string) error { return nil }

func (followers) FollowGroups(context.Context, []string) ([]string, error) { return nil, nil }

// GroupsChanged implements group.GroupNews.
func (followers) GroupsChanged() {}

func (followers) OpenGroup(context.Context, string) error { return nil }

func (m *memoryGroups) ListGroups(_ context.Context, names []string, _ repository.Page) ([]entity.Group, string, error) {
	var out []entity.Group
	for _, name := range slices.Sorted(maps.Keys(m.rows)) {
		if name != entity.AllJobs && (names == nil || slices.Contains(names, name)) {
			out = append(out, m.rows[name])
		}
	}
	return out, "", nil
}

func (m *memoryGroups) Group(_ context.Context, name string) (entity.Group, error) {
	if g, ok := m.rows[name]; ok {
		return g, nil
	}
	return entity.Group{}, apperror.NotFound("group", name)
}

func (m *memoryGroups) AddGroup(_ context.Context, g entity.Group) error {
	if _, ok := m.rows[g.Name]; ok {
		return apperror.Conflict("name_taken", "taken")
	}
	g.Version, g.Converged = 1, true
	m.rows[g.Name] = g
	return nil
}

func (m *memoryGroups) LimitGroup(ctx context.Context, name string, limit, version int, at time.Time) (entity.Group, error) {
	g, err := m.Group(ctx, name)
	if err == nil && version != 0 && version != g.Version {
		err = apperror.Conflict("stale_version", "stale")
	}
	if err != nil {
		return g, err
	}
	g.MaxConcurrency, g.Version, g.UpdateTime = limit, g.Version+1, at
	m.rows[name] = g
	return g, nil
}

func (m *memoryGroups) PauseGroup(ctx context.Context, name string, paused bool, p entity.Pause, at time.Time) (entity.Group, error) {
	g, err := m.Group(ctx, name)
	if err == nil && g.Paused != paused {
		g.Paused, g.Converged, g.Version, g.UpdateTime = paused, false, g.Version+1, at
		g.PausedAt, g.Pause = at, p
		m.rows[name] = g
	}
	return g, err
}

func (m *memoryGroups) MarkConverged(_ context.Context, name string, _ int) error {
	g := m.rows[name]
	g.Converged = true
	m.rows[name] = g
	return nil
}

func (m *memoryGroups) PausesOver(context.Context, time.Time) ([]entity.Group, error) {
	return nil, nil
}

func (m *memoryGroups) DivergedGroups(context.Context) ([]entity.Group, error) { return nil, nil }

func (m *memoryGroups) JobsOutOfSync(context.Context, entity.Group, string, int) ([]string, error) {
	return nil, nil
}

func (m *memoryGroups) DropGroup(ctx context.Context, name string) error {
	_, err := m.Group(ctx, name)
	delete(m.rows, name)
	return err
}
