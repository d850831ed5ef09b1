// Package entity holds the objects of the domain, such as jobs, executions and nodes. It
// says what states they have and what must be true of them.
package entity

import (
	"hash/fnv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Partitions is the fixed number of shares into which jobs hash and which the
// live schedulers divide among themselves (engine rule 25).
const Partitions = 256

// Job is a definition and its place in time. Every field above Status is the
// user's; what follows is kept by the engine.
//
// The json names are those under which the store keeps the versions of a job: what
// is the user's, and Status. Texts that are stored must stay readable.
type Job struct {
	ID          string            `json:"-"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Group       string            `json:"group"`
	Labels      map[string]string `json:"labels,omitempty"`
	Owner       string            `json:"owner,omitempty"`

	Type  JobType `json:"jobType"`
	Class string  `json:"jobClass,omitempty"`
	// Data is the executor's part of the definition, a JSON object.
	Data string `json:"jobData,omitempty"`

	Schedule schedule.Spec `json:"schedule"`
	Misfire  Misfire       `json:"misfire"`

	Priority         int           `json:"priority"`
	TimeoutSec       int           `json:"timeoutSec,omitempty"`
	StartDeadlineSec int           `json:"startDeadlineSec,omitempty"`
	Retry            RetryPolicy   `json:"retryPolicy"`
	Overlap          OverlapPolicy `json:"overlapPolicy"`
	// MaxConcurrency bounds the in-flight fires; 0 is unlimited under PARALLEL and
	// one under every other policy.
	MaxConcurrency int        `json:"maxConcurrency,omitempty"`
	MaxQueued      int        `json:"maxQueued,omitempty"`
	ShardCount     int        `json:"shardCount,omitempty"`
	Broadcast      bool       `json:"broadcast,omitempty"`
	Routing        Routing    `json:"routing"`
	OnNodeLoss     OnNodeLoss `json:"onNodeLoss"`
	// Alerts and Deadline say who is told of what; zero is nobody and none.
	Alerts   JobAlerts   `json:"alerts,omitzero"`
	Deadline JobDeadline `json:"deadline,omitzero"`
	// Parameters are those that the job declares; without any a run takes whatever it is given.
	Parameters []JobParameter `json:"parameters,omitempty"`
	// Next are the jobs that the ends of its fires start, at most MaxNext.
	Next []Next `json:"next,omitempty"`

	Status JobStatus `json:"status"`
	// NextFireTime is the scheduled time of the first undecided fire: the cursor
	// and the compare-and-swap value (engine rule 3). Zero: nothing is planned.
	NextFireTime time.Time `json:"-"`
	// DueTime is NextFireTime plus the job's constant jitter; zero whenever the
	// job must not be planned (paused, finished, deleted).
	DueTime      time.Time `json:"-"`
	LastFireTime time.Time `json:"-"`
	// DecidedUntil is where the latest range of skipped fires ends; it never falls. The times before it are decided,
	// whatever becomes of the cursor. Only who reads the whole job knows it.
	DecidedUntil time.Time `json:"-"`
	// PausedAt is when the pause began; its span becomes one ledger row.
	PausedAt time.Time `json:"-"`
	// PausedBy and Pause are of meaning while the job is PAUSED.
	PausedBy  PauseCause `json:"-"`
	Pause     Pause      `json:"-"`
	Partition int        `json:"-"`
	// FenceSeq is the job-wide fencing number given to the latest fire of a
	// coordinated job (engine rule 21). It never falls.
	FenceSeq int64 `json:"-"`
	// Limited: the job's group bounds the fires of all its jobs. It changes with
	// Version alone, so that whoever knows the version knows it.
	Limited bool `json:"-"`
	// Unread are stored parts of the job that this program cannot read, as another
	// release may have written them. An update leaves them as they are.
	Unread []Unread `json:"-"`
	// Version counts edits of the definition and of the status by people;
	// a fire never changes it (engine rule 4).
	Version    int       `json:"-"`
	CreateTime time.Time `json:"-"`
	UpdateTime time.Time `json:"-"`
	// ChangedBy is who made this version; former versions alone have it.
	ChangedBy string `json:"-"`
	// EditedBy is the id of the user who saves the definition; empty where nobody does: a pause makes a version, too. It
	// is known while a version is stored, and kept for workflows alone.
	EditedBy string `json:"-"`
}

// PartitionOf is the partition of a job: FNV-1a of its id, modulo Partitions.
func PartitionOf(jobID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(jobID))
	return int(h.Sum32() % Partitions)
}

// Coordinated reports whether a transaction that adds or finishes a run must lock the job
// first. That holds for every policy but unlimited PARALLEL, for FIXED_DELAY, and for more
// than one shard (engine rule 16). It also holds for a group with a limit, and for
// ROUND_ROBIN, which counts fires under the lock.
func (j *Job) Coordinated() bool {
	return j.Overlap != OverlapParallel || j.MaxConcurrency > 0 ||
		j.Schedule.Kind == schedule.FixedDelay || j.ShardCount > 1 || j.Broadcast ||
		j.Routing.Strategy == RouteRoundRobin || j.Limited
}

// FireLimit is the number of fires that may be live at once; 0 is unlimited. DISCARD,
// SERIAL and REPLACE mean one unless a limit is given. So does FIXED_DELAY: its runs
// follow one another, also those by hand.
func (j *Job) FireLimit() int {
	if j.MaxConcurrency > 0 {
		return j.MaxConcurrency
	}
	if j.Overlap == OverlapParallel && j.Schedule.Kind != schedule.FixedDelay {
		return 0
	}
	return 1
}

// SingleRun reports whether the job has at most one in-flight fire, so that its
// handlers get the job-wide fencing number.
func (j *Job) SingleRun() bool { return j.FireLimit() == 1 && j.ShardCount <= 1 && !j.Broadcast }

// Enabled reports whether the job fires by itself, or would if its group were
// not paused.
func (j *Job) Enabled() bool {
	return j.Status == JobEnabled || j.Status == JobPaused && j.PausedBy == PausedByGroup
}

// SameSchedule reports whether a definition leaves the schedule of the job as it is.
func (j *Job) SameSchedule(definition *Job) bool { return j.Schedule.Same(definition.Schedule) }

// WithDefinition is a new definition with what the engine keeps of the job.
func (j *Job) WithDefinition(definition *Job) *Job {
	next := *definition
	next.ID, next.Partition = j.ID, j.Partition
	next.CreateTime = j.CreateTime
	next.Status, next.PausedAt, next.PausedBy, next.Pause = j.Status, j.PausedAt, j.PausedBy, j.Pause
	next.NextFireTime, next.DueTime = j.NextFireTime, j.DueTime
	next.LastFireTime, next.DecidedUntil = j.LastFireTime, j.DecidedUntil
	next.FenceSeq, next.Limited, next.Version = j.FenceSeq, j.Limited, j.Version
	next.Schedule.Anchor = j.Schedule.Anchor
	return &next
}

// DeadlineFrom is when an attempt that started then runs out of time; zero is never.
func (j *Job) DeadlineFrom(start time.Time) time.Time {
	if j.Timeout() <= 0 {
		return time.Time{}
	}
	return start.Add(j.Timeout())
}

// Timeout is the bound on one attempt; 0 is none.
func (j *Job) Timeout() time.Duration { return time.Duration(j.TimeoutSec) * time.Second }

// How many executions a fire of a broadcast is taken for: the nodes, or the workers, are read inside the
// transaction of the fire. A group may have 1,000 workers, and a transaction takes fires until it is full.
const (
	broadcastSize        = 8
	broadcastWorkersSize = 100
)

// ExecutionsPerFire is about how many executions one fire of the job adds.
func (j *Job) ExecutionsPerFire() int {
	switch {
	case j.Broadcast && j.Routing.Workers != "":
		return broadcastWorkersSize
	case j.Broadcast:
		return broadcastSize
	}
	return max(j.ShardCount, 1)
}
