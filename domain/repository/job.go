package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// JobHead is what the fire transaction checks of a locked job.
type JobHead struct {
	ID           string
	NextFireTime time.Time
	DueTime      time.Time
	Version      int
	Status       entity.JobStatus
	FenceSeq     int64
}

// JobAdvance moves a job's cursor. Zero times are stored as NULL.
type JobAdvance struct {
	ID           string
	NextFireTime time.Time
	DueTime      time.Time
	// LastFireTime is kept when zero.
	LastFireTime time.Time
	// DecidedUntil is the end of a range behind all fires; the stored one is kept when zero.
	DecidedUntil time.Time
	Status       entity.JobStatus
	FenceSeq     int64
}

// AdvanceOf is the cursor move that stores the job's state. A zero last fire
// time keeps the stored one.
func AdvanceOf(job *entity.Job, last time.Time) JobAdvance {
	return JobAdvance{
		ID: job.ID, NextFireTime: job.NextFireTime, DueTime: job.DueTime,
		LastFireTime: last, Status: job.Status, FenceSeq: job.FenceSeq,
	}
}

// JobMove is the cursor move of a job that must be found as it was planned.
type JobMove struct {
	JobAdvance
	// From and Version are the cursor and the definition that were planned.
	From    time.Time
	Version int
}

// JobBreak pauses a job that cannot be planned.
type JobBreak struct {
	ID string
	// Version and From are the definition and the cursor that were met.
	Version int
	From    time.Time
	// Next is the first moment that is not decided.
	Next time.Time
	At   time.Time
	// Reason says why, for people.
	Reason string
}

// JobWriter changes jobs inside a transaction.
type JobWriter interface {
	// Lock locks the rows in id order and returns those that exist and are not
	// deleted, in id order.
	Lock(ctx context.Context, ids []string) ([]JobHead, error)
	// TryLock is Lock for rows that nobody else has locked: it does not wait.
	// locked are the others that exist.
	TryLock(ctx context.Context, ids []string) (heads []JobHead, locked []string, err error)
	// LockFull locks one row and returns all of it; a missing or deleted job
	// is apperror.KindNotFound.
	LockFull(ctx context.Context, id string) (*entity.Job, error)
	// LockDeleted is LockFull of a job that is deleted; any other one is apperror.KindNotFound.
	LockDeleted(ctx context.Context, id string) (*entity.Job, error)
	// LockMany locks and returns all of those jobs that exist and that nobody else
	// has locked, in id order.
	LockMany(ctx context.Context, ids []string) ([]*entity.Job, error)
	// UpdateStates writes, of locked jobs, what a pause or its end changes: status,
	// cursor, the pause itself, version and update time; many in one statement. The
	// definitions are kept under the new versions.
	UpdateStates(ctx context.Context, jobs []*entity.Job) error
	// Read returns those of the jobs that exist, in no particular order, as they
	// are needed to run, without a lock.
	Read(ctx context.Context, ids []string) ([]*entity.Job, error)
	// ScheduleOf returns the schedule that a version of a job had; false when that
	// version is not kept any more, or cannot be read.
	ScheduleOf(ctx context.Context, id string, version int) (schedule.Spec, bool, error)
	// Insert adds a job and keeps its definition as version 1. A taken
	// (group, name) is apperror.KindConflict with code name_taken.
	Insert(ctx context.Context, jobs ...*entity.Job) error
	// Update writes all of a locked job but what is Unread of it; when its Version grew, the definition
	// is kept under the new version. Deleted marks it deleted and frees the name; a deleted job comes back
	// without it, and takes its name again.
	Update(ctx context.Context, job *entity.Job, deleted bool) error
	// Break pauses a job under the next version, if it is still ENABLED at that version
	// and cursor. Else it returns false. It does not read the definition.
	Break(ctx context.Context, b JobBreak) (bool, error)
	// Advance moves the cursors of locked jobs, many in one statement.
	Advance(ctx context.Context, moves []JobAdvance) error
	// Move locks, checks and advances jobs in one step. It moves, in id order, the jobs
	// that are ENABLED with the given cursor and version, and returns their ids. The
	// others are left as they are; those of them that somebody else has locked are
	// returned as locked. It waits for no lock, or for one lock wait where the server
	// cannot do otherwise. FenceSeq is not written.
	Move(ctx context.Context, moves []JobMove) (moved map[string]bool, locked []string, err error)
}

// MaxWithout bounds the groups that a DueQuery leaves out. Jobs of further ones are read, and
// left out by who reads them.
const MaxWithout = 200

// DueQuery asks for planned jobs up to a moment.
type DueQuery struct {
	// Until is inclusive; the scan starts in the far past (engine rule 12).
	Until time.Time
	// Partitions filters by owned partitions; nil means all.
	Partitions []int
	// Without are groups whose jobs are left out as far as these hold them, see
	// entity.Group.Holds. They are at most MaxWithout: each is looked for in every due job.
	Without []entity.Group
	// AfterDue and AfterID continue a former page; zero for the first.
	AfterDue time.Time
	AfterID  string
	Limit    int
}

// DueKey is a job's position in the index of scans.
type DueKey struct {
	ID      string
	DueTime time.Time
}

// JobFilter narrows a list of jobs; empty fields do not filter.
type JobFilter struct {
	// NameContains matches literally and without regard to case.
	NameContains string
	Group        string
	// Groups are those that may be seen; nil is all.
	Groups []string
	Status entity.JobStatus
	Type   entity.JobType
}

// VersionReader reads former definitions.
type VersionReader interface {
	// Version is one version of a job, as in History; it returns
	// apperror.KindNotFound for an unknown one.
	Version(ctx context.Context, id string, version int) (*entity.Job, error)
}

// VersionOrNil is one version of a job; nil where nobody knows it any more.
func VersionOrNil(ctx context.Context, r VersionReader, id string, version int) (*entity.Job, error) {
	job, err := r.Version(ctx, id, version)
	if apperror.Is(err, apperror.KindNotFound) {
		return nil, nil
	}
	return job, err
}

// JobReader reads committed jobs. Deleted ones do not exist for it.
type JobReader interface {
	VersionReader
	// Get returns apperror.KindNotFound for an unknown id.
	Get(ctx context.Context, id string) (*entity.Job, error)
	// ByIDs returns those that exist, in no particular order, as they are
	// needed to run: descriptions, labels and owners are not filled in.
	ByIDs(ctx context.Context, ids []string) ([]*entity.Job, error)
	// Versions returns the current version of each id that exists.
	Versions(ctx context.Context, ids []string) (map[string]int, error)
	// List is ordered by id, newest first.
	List(ctx context.Context, f JobFilter, p Page) (jobs []*entity.Job, next string, err error)
	// History is the versions of a job, newest first: the user's part of each,
	// with its version and, as UpdateTime, when it was made.
	History(ctx context.Context, id string, p Page) (versions []*entity.Job, next string, err error)
	// Titles returns the groups and names of the ids that exist or existed.
	Titles(ctx context.Context, ids []string) (map[string]JobName, error)
	// Names returns the names of the ids that exist or existed.
	Names(ctx context.Context, ids []string) (map[string]string, error)
	// GroupsOf returns the groups of the ids that exist or existed.
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}

// JobPlanReader serves the engine's scans.
type JobPlanReader interface {
	// DueKeys returns the ENABLED jobs that are planned up to a moment, ordered
	// by (due time, id).
	DueKeys(ctx context.Context, q DueQuery) ([]DueKey, error)
	// ForPlanning returns those of the jobs that are planned at all, in no
	// particular order. Descriptions, labels and owners are not filled in.
	ForPlanning(ctx context.Context, ids []string) ([]*entity.Job, error)
	// Unarmed returns ids of ENABLED FIXED_DELAY jobs without a next time and
	// without an in-flight fire (engine rule 7), by id from after on.
	Unarmed(ctx context.Context, after string, limit int) ([]string, error)
	// Unplanned looks at limit jobs by id from after on. It returns those that are ENABLED and
	// have a CRON, FIXED_RATE or ONCE schedule, but no next time: no scan finds them. next is
	// where to go on; empty at the end.
	Unplanned(ctx context.Context, after string, limit int) (ids []string, next string, err error)
	// StillUnplanned returns those of the jobs that Unplanned would.
	StillUnplanned(ctx context.Context, ids []string) ([]string, error)
	// InFlightFires returns in-flight fires that began before a moment, by job and key
	// from after on.
	InFlightFires(ctx context.Context, after entity.InFlightFire, before time.Time,
		limit int) ([]entity.InFlightFire, error)
	// RunlessFires returns those of in-flight fires that hold a slot and of which no execution is live. It may be wrong
	// about a fire outside the schedule that an older release recorded: look again before you give it up.
	RunlessFires(ctx context.Context, fires []entity.InFlightFire) ([]entity.InFlightFire, error)
	// CountExecutionsOf counts the executions that are not final of one in-flight fire.
	CountExecutionsOf(ctx context.Context, f entity.InFlightFire) (int, error)
	// CountFires counts the in-flight fires of the jobs; those without any may be left
	// out, or be zero.
	CountFires(ctx context.Context, jobIDs []string) (map[string]FireCount, error)
	// JobPausesOver returns ids of jobs that are paused until the moment or an
	// earlier one, the earliest first.
	JobPausesOver(ctx context.Context, at time.Time, limit int) ([]string, error)
	// GroupsWithFreeSlots are the groups with a limit that have a free slot, by name.
	GroupsWithFreeSlots(ctx context.Context) ([]string, error)
	// LeftoverSlots is a page of the slots of groups whose fire is over, by job and
	// fire key, behind those of after.
	LeftoverSlots(ctx context.Context, after entity.GroupSlot, limit int) ([]entity.GroupSlot, error)
}

// ScheduleQuery asks for jobs that fire by themselves.
type ScheduleQuery struct {
	// Group is one group, empty all; Groups are those that may be seen, nil all.
	Group  string
	Groups []string
	Limit  int
	// IDs asks for the ids of all jobs, not only of those with jitter.
	IDs bool
}

// ScheduleReader looks ahead over all jobs.
type ScheduleReader interface {
	// EnabledSchedules returns ENABLED jobs in no order, at most a limit.
	EnabledSchedules(ctx context.Context, q ScheduleQuery) ([]Planned, error)
}

// Planned is what an enabled job plans.
type Planned struct {
	// ID is that of a job with jitter, which depends on it; of others where the query asks for ids.
	ID string
	// Schedule is shared by the jobs that have the same one. Where the anchor does not count, it has none.
	Schedule *schedule.Spec
	// Next is the planned fire of a fixed delay; else zero.
	Next time.Time
}
