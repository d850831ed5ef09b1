// Package admission turns fires into executions and gives slots to those of
// jobs whose fires must know of each other. All of it runs inside the caller's
// transaction; the caller holds the locks of the jobs (engine rule 16, see
// docs/rules.md).
package admission

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

// Fire is a fire that is about to be recorded.
type Fire struct {
	// Key identifies the fire within its job.
	Key     string
	Nominal time.Time
	// Due is when its runs may start.
	Due     time.Time
	Trigger entity.Trigger
	Params  string
	// By is who asked for the fire.
	By      entity.Actor
	RetryOf string
	RootID  string
	// OnlyShard restricts the fire to one shard of ShardTotal; used when one
	// run is repeated by hand. Negative: every shard of the job.
	OnlyShard  int
	ShardTotal int
	// OnlyNode is where the repeated run of a broadcast belongs.
	OnlyNode string
	// Planned fires are those of the schedule.
	Planned bool
	// Computed ids refuse a second record of the fire; others are random
	// (engine rules 1, 2).
	Computed bool
	// made is the store's time at which other ids were made.
	made time.Time
	// nodes are those of a broadcast's shards, in their order.
	nodes []string
}

// PlannedFire is a fire of the schedule.
func PlannedFire(f planning.Fire) Fire {
	return Fire{
		Key: identity.FireKey(f.Nominal), Nominal: f.Nominal, Due: f.Due,
		Trigger: f.Trigger, OnlyShard: -1, Planned: true, Computed: true,
	}
}

// BackfillFire runs a nominal time of the past at due. Whoever runs the same
// time again makes the same fire.
func BackfillFire(nominal, due time.Time) Fire {
	return Fire{
		Key: identity.BackfillKey(nominal), Nominal: nominal, Due: due,
		Trigger: entity.TriggerManual, OnlyShard: -1, Computed: true,
	}
}

// ExtraFire is a fire outside the schedule, made at now, which is the store's
// time: its key is unique and tells with which moment the ids of its runs begin.
func ExtraFire(trigger entity.Trigger, nominal, due, now time.Time, params string) (Fire, error) {
	return Fire{
		Key: string(trigger) + ":" + identity.RandomID(now), Nominal: nominal, Due: due, made: now,
		Trigger: trigger, Params: params, OnlyShard: -1,
	}, nil
}

// Rows makes the executions of a fire, one for each shard, WAITING and without
// a place in the claim index.
func (f Fire) Rows(job *entity.Job, now time.Time) ([]*entity.Execution, error) {
	shards := f.shards(job)
	var deadline time.Time
	if job.StartDeadlineSec > 0 {
		deadline = later(f.Due, now).Add(time.Duration(job.StartDeadlineSec) * time.Second)
	}
	block := make([]entity.Execution, len(shards))
	rows := make([]*entity.Execution, len(block))
	for i, shard := range shards {
		id, err := f.id(job.ID, shard.Index)
		if err != nil {
			return nil, err
		}
		block[i] = entity.Execution{
			ID: id, JobID: job.ID, FireKey: f.Key, ScheduledTime: f.Nominal, DueTime: f.Due,
			Trigger: f.Trigger, ShardIndex: shard.Index, ShardTotal: shard.Total, JobVersion: job.Version,
			Priority: job.Priority, Params: f.Params, TriggeredBy: f.By, Status: entity.StatusWaiting,
			StartDeadline: deadline, RetryOf: f.RetryOf, RootID: f.RootID,
			CreateTime: now, UpdateTime: now,
		}
		if len(f.nodes) > 0 {
			block[i].NodeID = f.nodes[i]
		}
		rows[i] = &block[i]
	}
	return rows, nil
}

// shards are the parts of the fire that are recorded.
func (f Fire) shards(job *entity.Job) []sharding.Shard {
	switch {
	case f.OnlyShard >= 0:
		return []sharding.Shard{{Index: f.OnlyShard, Total: f.ShardTotal}}
	case len(f.nodes) > 0:
		return sharding.Shards(len(f.nodes))
	}
	return sharding.Shards(job.ShardCount)
}

func (f Fire) id(jobID string, shard int) (string, error) {
	if f.Computed {
		return identity.ExecutionID(f.Nominal, jobID, f.Key, shard), nil
	}
	return identity.RandomID(f.made), nil
}

// Skipped is the one row of a fire that is recorded without running.
func (f Fire) Skipped(job *entity.Job, now time.Time, reason entity.Reason) (*entity.Execution, error) {
	id, err := f.id(job.ID, max(f.OnlyShard, 0))
	if err != nil {
		return nil, err
	}
	return &entity.Execution{
		ID: id, JobID: job.ID, FireKey: f.Key, ScheduledTime: f.Nominal, DueTime: f.Due,
		Trigger: f.Trigger, ShardIndex: max(f.OnlyShard, 0), ShardTotal: max(1, job.ShardCount),
		JobVersion: job.Version, Priority: job.Priority, Params: f.Params, TriggeredBy: f.By,
		Status: entity.StatusSkipped, Reason: reason, EndTime: now,
		RetryOf: f.RetryOf, RootID: f.RootID, CreateTime: now, UpdateTime: now,
	}, nil
}

// Range is the one row of many fires that were not run (engine rule 5).
func Range(job *entity.Job, s planning.Skip, now time.Time) *entity.Execution {
	key := identity.RangeKey(s.First)
	return &entity.Execution{
		ID: identity.ExecutionID(s.First, job.ID, key, 0), JobID: job.ID, FireKey: key,
		ScheduledTime: s.First, DueTime: s.First, Trigger: entity.TriggerSchedule,
		ShardTotal: 1, JobVersion: job.Version, Priority: job.Priority,
		Status: entity.StatusSkipped, Reason: s.Reason, EndTime: now,
		SkipFrom: s.First, SkipTo: s.End, SkipCount: s.Count, SkipAtLeast: s.AtLeast,
		CreateTime: now, UpdateTime: now,
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
