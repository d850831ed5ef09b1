package entity

import "time"

// AllJobs is the name of the group that every job is in. No user's group has it.
const AllJobs = ""

// Group bundles jobs under a name. A job may name a group that nobody made:
// it comes into being with its first job.
type Group struct {
	Name string
	// MaxConcurrency bounds the runs of all its jobs; 0 is unlimited.
	MaxConcurrency int
	// Paused holds every job of the group, also those that join it later.
	Paused bool
	// Settled: all jobs follow Paused. Until then they are being changed.
	Settled    bool
	Version    int
	CreateTime time.Time
	// UpdateTime is zero until the first change.
	UpdateTime time.Time
}

// PauseCause says who paused a job.
type PauseCause string

// The causes. PausedByUser is a pause of the job itself, which outlasts that
// of its group.
const (
	PausedByUser  PauseCause = ""
	PausedByGroup PauseCause = "GROUP"
)
