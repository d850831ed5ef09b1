package entity

import "time"

// AllJobs is the name of the group that every job is in. No user's group has it.
const AllJobs = ""

// Group bundles jobs under a name. A job may name a group that nobody made:
// it comes into being with its first job.
type Group struct {
	Name string
	// MaxConcurrency bounds the fires of all its jobs that run at once; 0 is
	// unlimited.
	MaxConcurrency int
	// Paused holds every job of the group, also those that join it later.
	Paused bool
	// PausedAt is when the latest pause began, and stays after its end; ResumedAt
	// is its end, zero while it lasts. Both are zero where nobody knows. Pause is
	// what is known of the latest pause.
	PausedAt, ResumedAt time.Time
	Pause               Pause
	// Converged: all jobs follow Paused, and know whether there is a limit. Until
	// then they are being changed.
	Converged  bool
	Version    int
	CreateTime time.Time
	// UpdateTime is zero until the first change.
	UpdateTime time.Time
	// Unreadable says what of the stored row cannot be read; empty is nothing.
	Unreadable string
}

// Holds reports whether the group keeps a job from being planned, even if the job does not
// know of it yet. The group is paused, or the range of its last pause is not recorded for
// the job.
func (g Group) Holds(nextFireTime time.Time) bool {
	return g.Paused || !g.Converged && !nextFireTime.After(g.ResumedAt)
}

// GroupSlot is the slot that a fire holds in its group, from before its first
// run may start until its last run is over. A group has as many as its limit.
type GroupSlot struct {
	Group   string
	JobID   string
	FireKey string
	// ExecutionID is a run of a fire that began before the limit bound its job. The code
	// that ends the run may not know of the slot; the slot is free once the run is final.
	// It is not set for other fires.
	ExecutionID string
}
