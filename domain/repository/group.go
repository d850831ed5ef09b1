package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// GroupWriter is what a change of a job asks of its group.
type GroupWriter interface {
	// Held reports whether the group, or all jobs, are paused. The answer holds
	// until the transaction ends.
	Held(ctx context.Context, group string) (bool, error)
}

// Groups keeps the settings of groups. A group whose jobs exist has a row.
type Groups interface {
	// ListGroups is ordered by name; names are those that may be seen, nil is
	// all. entity.AllJobs is not among them.
	ListGroups(ctx context.Context, names []string, p Page) (groups []entity.Group, next string, err error)
	// Group returns fault.KindNotFound for an unknown name.
	Group(ctx context.Context, name string) (entity.Group, error)
	// AddGroup adds a group; a taken name is fault.KindConflict.
	AddGroup(ctx context.Context, g entity.Group) error
	// LimitGroup sets the bound; version, where it is not 0, must be the
	// present one, else it is fault.KindConflict.
	LimitGroup(ctx context.Context, name string, maxConcurrency, version int, at time.Time) (entity.Group, error)
	// HoldGroup sets Paused, and marks the group as not settled when that is
	// a change.
	HoldGroup(ctx context.Context, name string, paused bool, at time.Time) (entity.Group, error)
	// SettleGroup marks a group as settled if Paused is still that.
	SettleGroup(ctx context.Context, name string, paused bool) error
	// UnsettledGroups are those that some jobs do not follow yet.
	UnsettledGroups(ctx context.Context) ([]entity.Group, error)
	// Strays are jobs, by id from after on, that must be paused because the
	// group is, or resumed because neither it nor all jobs are.
	Strays(ctx context.Context, group string, paused bool, after string, limit int) (ids []string, err error)
	// DropGroup removes a group; one that has jobs is fault.KindConflict.
	DropGroup(ctx context.Context, name string) error
}
