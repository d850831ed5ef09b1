package entity

import (
	"cmp"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

// Fire is one firing of a job that is about to be recorded: by its schedule, a
// backfill or somebody's request.
type Fire struct {
	// Key identifies the fire within its job.
	Key           string
	ScheduledTime time.Time
	// DueTime is when its executions may start.
	DueTime time.Time
	// Trigger is SCHEDULE for a planned fire, or MISFIRE for one that the misfire
	// policy saved.
	Trigger Trigger
	Params  string
	// By is who asked for the fire.
	By Actor
	// Parent is the span that asked for the fire; empty is none.
	Parent TraceContext
	// Parts are what the fire records; empty is every shard of the job. A fire that
	// repeats executions has one for each.
	Parts []Part
	// Planned fires are those of the schedule.
	Planned bool
	// Computed ids refuse a second record of the fire. Others are random (engine rules 1 and 2). Random ids begin with
	// the store's time MadeAt, computed ones with the scheduled time, or with MadeAt where it is not zero.
	Computed bool
	MadeAt   time.Time
	// Version of the job is what the fire keeps to; zero is the current one.
	Version int
	// Origin is the fire whose work this one does again, with its idempotency keys; none where its key is empty.
	Origin Origin
}

// Origin is a fire of the same job, with computed ids that begin with a moment.
type Origin struct {
	Key string
	At  time.Time
}

// rootID is the first execution of what a part of the fire does.
func (f *Fire) rootID(jobID string, part Part) string {
	if part.RootID != "" || f.Origin.Key == "" {
		return part.RootID
	}
	return identity.ExecutionID(f.Origin.At, jobID, f.Origin.Key, part.Index)
}

// FirstID is the id of the first execution that a computed fire of the job records, whatever becomes of it.
func (f Fire) FirstID(jobID string) string { return f.id(jobID, 0) }

// Part is one execution of a fire.
type Part struct {
	sharding.Shard
	// Node is where the part of a broadcast belongs.
	Node string
	// RetryOf and RootID are those of an execution that repeats another one.
	RetryOf, RootID string
}

// Repeat is the part that repeats an execution.
func Repeat(e *Execution) Part {
	return Part{
		Shard: sharding.Shard{Index: e.ShardIndex, Total: max(e.ShardTotal, 1)}, Node: e.NodeID,
		RetryOf: e.ID, RootID: e.IdempotencyKey(),
	}
}

// PlannedFire is a fire of the schedule.
func PlannedFire(scheduled, due time.Time, trigger Trigger) Fire {
	return Fire{
		Key: identity.FireKey(scheduled), ScheduledTime: scheduled, DueTime: due, Trigger: trigger,
		Planned: true, Computed: true,
	}
}

// BackfillFire runs a scheduled time of the past at due. A second run of
// the same time makes the same fire.
func BackfillFire(scheduled, due time.Time) Fire {
	return Fire{
		Key: identity.BackfillKey(scheduled), ScheduledTime: scheduled, DueTime: due, Trigger: TriggerManual,
		Computed: true,
	}
}

// RepeatFire repeats, at due, executions of one fire at a scheduled time of the past.
// The backfill that asks for it makes the same fire each time.
func RepeatFire(backfillID string, failed []*Execution, due time.Time) Fire {
	scheduled := failed[0].ScheduledTime
	f := Fire{
		Key: identity.RepeatKey(scheduled, backfillID), ScheduledTime: scheduled, DueTime: due, Trigger: TriggerRetry,
		Params: failed[0].Params, Computed: true,
	}
	for _, e := range failed {
		f.Parts = append(f.Parts, Repeat(e))
	}
	return f
}

// ExtraFire is a fire outside the schedule, made at now, which is the store's
// time. Its key is unique and tells with which moment the ids of its executions
// begin.
func ExtraFire(trigger Trigger, scheduled, due, now time.Time, params string) Fire {
	return Fire{
		Key: string(trigger) + ":" + identity.RandomID(now), ScheduledTime: scheduled, DueTime: due, Trigger: trigger,
		Params: params, MadeAt: now,
	}
}

// NextFire is the fire that the end of another job's fire starts, by key (identity.NextKey) and at the moment of that
// end. It has the scheduled time of the fire that ended, so that a chain works on one day.
func NextFire(key string, scheduled, ended time.Time, params string) Fire {
	return Fire{
		Key: key, ScheduledTime: scheduled, DueTime: ended, Trigger: TriggerDependency, Params: params,
		Computed: true, MadeAt: ended,
	}
}

// NewExecutions makes the executions of a fire, one for each shard. They are
// WAITING, and have no claim key yet.
func NewExecutions(job *Job, f Fire, now time.Time) []*Execution {
	parts := f.parts(job)
	var deadline time.Time
	if job.StartDeadlineSec > 0 {
		from := f.DueTime
		if now.After(from) {
			from = now
		}
		deadline = from.Add(time.Duration(job.StartDeadlineSec) * time.Second)
	}
	block := make([]Execution, len(parts))
	made := make([]*Execution, len(parts))
	for i, part := range parts {
		block[i] = Execution{
			ID: f.id(job.ID, part.Index), JobID: job.ID, FireKey: f.Key, ScheduledTime: f.ScheduledTime, DueTime: f.DueTime,
			Trigger: f.Trigger, ShardIndex: part.Index, ShardTotal: part.Total,
			JobVersion: cmp.Or(f.Version, job.Version),
			Priority:   job.Priority, Params: f.Params, TriggeredBy: f.By, Parent: f.Parent, Status: StatusWaiting,
			StartDeadline: deadline, RetryOf: part.RetryOf, RootID: f.rootID(job.ID, part),
			CreateTime: now, UpdateTime: now,
		}
		if job.Broadcast {
			block[i].NodeID = part.Node
		}
		made[i] = &block[i]
	}
	return made
}

// parts are those of the fire that are recorded.
func (f Fire) parts(job *Job) []Part {
	if len(f.Parts) > 0 {
		return f.Parts
	}
	shards := sharding.Shards(job.ShardCount)
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		parts[i].Shard = shard
	}
	return parts
}

func (f Fire) id(jobID string, shard int) string {
	switch {
	case !f.Computed:
		return identity.RandomID(f.MadeAt)
	case f.MadeAt.IsZero():
		return identity.ExecutionID(f.ScheduledTime, jobID, f.Key, shard)
	}
	return identity.ExecutionID(f.MadeAt, jobID, f.Key, shard)
}

// NewSkipped is the one execution that records a fire which does not run.
func NewSkipped(job *Job, f Fire, now time.Time, reason Reason) *Execution {
	var part Part
	if len(f.Parts) > 0 {
		part = f.Parts[0]
	}
	return &Execution{
		ID: f.id(job.ID, part.Index), JobID: job.ID, FireKey: f.Key, ScheduledTime: f.ScheduledTime, DueTime: f.DueTime,
		Trigger: f.Trigger, ShardIndex: part.Index, ShardTotal: max(1, job.ShardCount),
		JobVersion: cmp.Or(f.Version, job.Version), Priority: job.Priority, Params: f.Params, TriggeredBy: f.By,
		Status: StatusSkipped, Reason: reason, EndTime: now,
		RetryOf: part.RetryOf, RootID: f.rootID(job.ID, part), CreateTime: now, UpdateTime: now,
	}
}

// NewInvalid is the one execution that records a fire which cannot run.
func NewInvalid(job *Job, f Fire, now time.Time, message string) *Execution {
	e := NewSkipped(job, f, now, ReasonInvalid)
	e.Status, e.ErrorMessage = StatusFailed, message
	return e
}

// rejectedPriority is that of an execution whose job's own could not be stored.
const rejectedPriority = 5

// Rejected is the row for a new execution that the store refuses as it is. It holds
// nothing of the job but its id. A range is recorded as it is.
func (e *Execution) Rejected(now time.Time, message string) *Execution {
	if e.IsRange() {
		return e
	}
	return &Execution{
		ID: e.ID, JobID: e.JobID, FireKey: e.FireKey, ScheduledTime: e.ScheduledTime, DueTime: e.DueTime,
		Trigger: e.Trigger, ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal, JobVersion: e.JobVersion,
		Priority: rejectedPriority, Status: StatusFailed, Reason: ReasonInvalid, EndTime: now,
		ErrorMessage: message, CreateTime: now, UpdateTime: now,
	}
}

// SkippedRange is a range [First, End) of scheduled times that do not run. First
// is the first of them; Count is how many there are, or at least how many.
type SkippedRange struct {
	First   time.Time
	End     time.Time
	Count   int
	AtLeast bool
	Reason  Reason
}

// NewRange is the one execution that records many fires which were not run
// (engine rule 5).
func NewRange(job *Job, s SkippedRange, now time.Time) *Execution {
	key := identity.RangeKey(s.First)
	return &Execution{
		ID: identity.ExecutionID(s.First, job.ID, key, 0), JobID: job.ID, FireKey: key,
		ScheduledTime: s.First, DueTime: s.First, Trigger: TriggerSchedule,
		ShardTotal: 1, JobVersion: job.Version, Priority: job.Priority,
		Status: StatusSkipped, Reason: s.Reason, EndTime: now,
		SkipFrom: s.First, SkipTo: s.End, SkipCount: s.Count, SkipAtLeast: s.AtLeast,
		CreateTime: now, UpdateTime: now,
	}
}
