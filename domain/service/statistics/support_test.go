package statistics_test

import (
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

var now = time.Date(2026, 11, 22, 10, 20, 30, 123e6, time.UTC)

const someJob = "01a1fae0-82e0-7c38-bfcc-281165379a91"

// plain is the end of an ordinary run of the schedule, k ms before now.
func plain(k int) *entity.Execution {
	start := now.Add(-time.Duration(k+1500) * time.Millisecond)
	return &entity.Execution{
		ID: identity.RandomID(start), JobID: someJob, FireKey: identity.FireKey(start), ShardTotal: 1, JobVersion: 3,
		DueTime: start.Add(-12 * time.Millisecond), CreateTime: start, Trigger: entity.TriggerSchedule,
		Status: entity.StatusSuccess, NodeID: "scheduler-a-1:8080", Attempt: 1, StartTime: start,
		EndTime: now.Add(-time.Duration(k) * time.Millisecond), Duration: 1500 * time.Millisecond,
	}
}

// finals are the states that an end can have.
func finals() (finals []entity.Status) {
	for _, s := range entity.Statuses() {
		if s.Final() {
			finals = append(finals, s)
		}
	}
	return finals
}

var jobs = []string{someJob, "01a1fae0-82e0-7e67-b4f9-ecf9921e75b4", "01a1fae0-82e1-7e58-beb6-7a74c8e3ed66"}

// execution draws an execution that may end: of few jobs, nodes and fires, so that they
// meet, and with spans of all sizes.
func execution(t *rapid.T) *entity.Execution {
	span := func(name string) time.Duration {
		return time.Duration(math.Pow(10, rapid.Float64Range(0, 15).Draw(t, name)))
	}
	e := plain(rapid.IntRange(0, 100_000_000).Draw(t, "age"))
	e.JobID = rapid.SampledFrom(jobs).Draw(t, "job")
	e.Status = rapid.SampledFrom(finals()).Draw(t, "status")
	triggers := []entity.Trigger{entity.TriggerSchedule, entity.TriggerAPI, entity.TriggerMisfire}
	e.Trigger = rapid.SampledFrom(triggers).Draw(t, "trigger")
	e.Reason = rapid.SampledFrom([]entity.Reason{"", entity.ReasonError, entity.ReasonOverlap}).Draw(t, "reason")
	e.NodeID = rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f"}).Draw(t, "node")
	e.Attempt = rapid.IntRange(0, 3).Draw(t, "attempt")
	e.RetryCount = max(e.Attempt-1, 0)
	e.Duration = span("duration")
	if e.Attempt == 0 {
		e.StartTime, e.Duration = time.Time{}, 0
	} else {
		e.StartTime = e.EndTime.Add(-e.Duration)
		e.DueTime = e.StartTime.Add(-span("lateness"))
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		e.ShardTotal = rapid.IntRange(2, 20).Draw(t, "shards")
		e.ShardIndex = rapid.IntRange(0, e.ShardTotal-1).Draw(t, "shard")
		e.FireKey = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "fire")
	case 1:
		e.Status, e.SkipFrom, e.SkipTo = entity.StatusSkipped, now.Add(-time.Hour), now
		e.SkipCount = rapid.IntRange(0, 1000).Draw(t, "count")
	}
	return e
}
