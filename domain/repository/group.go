package repository

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// GroupTerms are what a group, and the one of all jobs, ask of a job.
type GroupTerms struct {
	// Limited: the fires of the group that run at once are bounded.
	Limited bool
	// Groups are the two.
	Groups []entity.Group
}

// Paused reports that one of them is paused.
func (t GroupTerms) Paused() bool {
	return slices.ContainsFunc(t.Groups, func(g entity.Group) bool { return g.Paused })
}

// Holds reports that they keep a job with that cursor from being planned, see
// entity.Group.Holds.
func (t GroupTerms) Holds(nextFireTime time.Time) bool {
	return slices.ContainsFunc(t.Groups, func(g entity.Group) bool { return g.Holds(nextFireTime) })
}

// HeldSince is when the first pause began that holds a job with that cursor, and
// what is known of it.
func (t GroupTerms) HeldSince(nextFireTime time.Time) (since time.Time, p entity.Pause) {
	for _, g := range t.Groups {
		if g.Holds(nextFireTime) && (since.IsZero() || g.PausedAt.Before(since)) {
			since, p = g.PausedAt, g.Pause
		}
	}
	return since, p
}

// ResumedAt is when the last of their pauses ended; zero: there was none.
func (t GroupTerms) ResumedAt() (last time.Time) {
	for _, g := range t.Groups {
		if g.ResumedAt.After(last) {
			last = g.ResumedAt
		}
	}
	return last
}

// GroupWriter is what a change of a job asks of its group, and the slots of
// groups that have a limit. Groups are locked after jobs and before executions;
// slots are taken by who holds the lock of the group.
type GroupWriter interface {
	// Terms are those of the group; they hold until the transaction ends. A group
	// that has no row gets one.
	Terms(ctx context.Context, group string) (GroupTerms, error)
	// Lock locks the groups in the order of their names and returns the limits of
	// those that exist; 0 is none.
	Lock(ctx context.Context, names []string) (limits map[string]int, err error)
	// CountSlots is how many slots of the group are held.
	CountSlots(ctx context.Context, group string) (int, error)
	// Take adds slots; one that the fire holds already stays.
	Take(ctx context.Context, slots []entity.GroupSlot) error
	// Release gives up the slots of the fires, where they hold any.
	Release(ctx context.Context, fires []entity.InFlightFire) error
	// ReleaseJob gives up the slots of all fires of a job.
	ReleaseJob(ctx context.Context, jobID string) error
	// Next returns and locks the first runs that wait for a slot in the group, strictly by
	// priority, then fair time. It skips rows that other transactions have locked.
	Next(ctx context.Context, group string, limit int) ([]*entity.Execution, error)
}

// Groups keeps the settings of groups. A group whose jobs exist has a row.
type Groups interface {
	// ListGroups is ordered by name; names are those that may be seen, nil is
	// all. entity.AllJobs is not among them.
	ListGroups(ctx context.Context, names []string, p Page) (groups []entity.Group, next string, err error)
	// Group returns apperror.KindNotFound for an unknown name.
	Group(ctx context.Context, name string) (entity.Group, error)
	// AddGroup adds a group; a taken name is apperror.KindConflict.
	AddGroup(ctx context.Context, g entity.Group) error
	// LimitGroup sets the limit. A first limit, or the end of the limit, marks the group
	// as not converged. A version other than 0 must be the present one, else the error is
	// apperror.KindConflict.
	LimitGroup(ctx context.Context, name string, maxConcurrency, version int, at time.Time) (entity.Group, error)
	// PauseGroup pauses a group, or ends its pause, at a moment, and marks it as not
	// settled when that is a change. Of a group that is paused a pause that says
	// something changes reason, user and end.
	PauseGroup(ctx context.Context, name string, paused bool, p entity.Pause, at time.Time) (entity.Group, error)
	// PausesOver are the groups that are paused until the moment or an earlier one.
	PausesOver(ctx context.Context, at time.Time) ([]entity.Group, error)
	// MarkConverged marks a group as converged if it still has that version.
	MarkConverged(ctx context.Context, name string, version int) error
	// DivergedGroups returns the groups that some jobs do not follow yet.
	DivergedGroups(ctx context.Context) ([]entity.Group, error)
	// JobsOutOfSync returns jobs that do not follow their group, by id from after on. They
	// must be paused or resumed, lack the range of a pause that they never knew of, or do
	// not know their group's limit.
	JobsOutOfSync(ctx context.Context, g entity.Group, after string, limit int) (ids []string, err error)
	// DropGroup removes a group; one that has jobs is apperror.KindConflict.
	DropGroup(ctx context.Context, name string) error
}
