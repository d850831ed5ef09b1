package entity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

func plannedAt(at time.Time) entity.Fire {
	return entity.PlannedFire(at, at.Add(time.Second), entity.TriggerSchedule)
}

// Rule 1: the ids of a planned fire are computed, one for each shard; the
// same fire made twice has the same ids.
func TestAPlannedFireHasComputedIds(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: "j", Version: 4, Priority: 7, ShardCount: 3, StartDeadlineSec: 10}
	rows := entity.NewExecutions(job, plannedAt(noon), noon.Add(time.Minute))
	require.Len(t, rows, 3)
	for i, row := range rows {
		require.Equal(t, identity.ExecutionID(noon, "j", identity.FireKey(noon), i), row.ID)
		require.Equal(t, []any{i, 3, 4, 7}, []any{row.ShardIndex, row.ShardTotal, row.JobVersion, row.Priority})
		require.Equal(t, []any{noon, noon.Add(time.Second)}, []any{row.ScheduledTime, row.DueTime})
		require.Equal(t, entity.StatusWaiting, row.Status)
		require.Empty(t, row.Claim, "its place is for others to decide")
		require.Equal(t, noon.Add(70*time.Second), row.StartDeadline, "a late fire has its full time from now")
	}
	again := entity.NewExecutions(job, plannedAt(noon), noon)
	require.Equal(t, rows[2].ID, again[2].ID)
	require.Equal(t, noon.Add(11*time.Second), again[0].StartDeadline, "one on time from its due time")
}

// Rule 2: other fires have random ids and keys of their own.
func TestAFireByHandIsUnique(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: "j", ShardCount: 1}
	make2 := func() *entity.Execution {
		fire := entity.ExtraFire(entity.TriggerAPI, noon, noon, noon, `{"a":1}`)
		rows := entity.NewExecutions(job, fire, noon)
		require.Len(t, rows, 1)
		require.Zero(t, rows[0].StartDeadline)
		return rows[0]
	}
	a, b := make2(), make2()
	require.NotEqual(t, a.ID, b.ID)
	require.NotEqual(t, a.FireKey, b.FireKey)
	require.Equal(t, `{"a":1}`, a.Params)
}

// One shard of a fire that is repeated keeps its position among all shards,
// whatever the job's number is today.
func TestOneShardCanBeRepeated(t *testing.T) {
	t.Parallel()
	fire := entity.ExtraFire(entity.TriggerRetry, noon, noon, noon, "")
	fire.Parts = []entity.Part{
		entity.Repeat(&entity.Execution{ID: "former", RootID: "root", ShardIndex: 2, ShardTotal: 5}),
	}
	rows := entity.NewExecutions(&entity.Job{ID: "j", ShardCount: 3}, fire, noon)
	require.Len(t, rows, 1)
	require.Equal(t, []any{2, 5, "former", "root"}, []any{
		rows[0].ShardIndex, rows[0].ShardTotal, rows[0].RetryOf,
		rows[0].RootID,
	})
}

// A backfill that repeats the same executions again makes the same ones.
func TestARepeatedFireHasComputedIds(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: "j", ShardCount: 4}
	planned := entity.NewExecutions(job, plannedAt(noon), noon)
	fire := func(backfill string) []*entity.Execution {
		return entity.NewExecutions(job, entity.RepeatFire(backfill, planned[1:3], noon.Add(time.Hour)), noon.Add(time.Hour))
	}
	once, twice, other := fire("b"), fire("b"), fire("c")
	require.Equal(t, once, twice)
	require.Len(t, once, 2)
	for i, e := range once {
		require.NotEqual(t, other[i].ID, e.ID)
		require.Equal(t, []any{i + 1, 4, planned[i+1].ID, planned[i+1].ID, noon, entity.TriggerRetry},
			[]any{e.ShardIndex, e.ShardTotal, e.RetryOf, e.RootID, e.ScheduledTime, e.Trigger})
	}
}

// A fire that does not run is one row, whatever its shards; it bears the id
// that its first shard would have had, so that it cannot be recorded twice.
func TestASkippedFireTakesTheIdOfItsRun(t *testing.T) {
	t.Parallel()
	job := &entity.Job{ID: "j", ShardCount: 3}
	rows := entity.NewExecutions(job, plannedAt(noon), noon)
	skipped := entity.NewSkipped(job, plannedAt(noon), noon, entity.ReasonOverlap)
	require.Equal(t, rows[0].ID, skipped.ID)
	require.Equal(t, []any{entity.StatusSkipped, entity.ReasonOverlap, noon},
		[]any{skipped.Status, skipped.Reason, skipped.EndTime})
}

// What a run says when it ends without running is of that end, and not what it
// waited for, or a former attempt came to (engine rule 19).
func TestARunThatIsClosedSaysNothingOfBefore(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for attempt, want := range map[int]string{0: "", 1: "the retry did not start before its start deadline"} {
		row := &entity.Execution{
			Status: entity.StatusWaiting, Attempt: attempt, ErrorMessage: "no place is free",
			Result: "half", Claim: entity.ScheduledKey(now),
		}
		require.NoError(t, row.Skip(entity.ReasonDeadline, now))
		require.Equal(t, want, row.ErrorMessage)
		require.Empty(t, row.Result)
		require.Empty(t, row.Claim)
	}
}

// Rule 5: many fires are one row, apart from that of their first.
func TestARangeStandsForManyFires(t *testing.T) {
	t.Parallel()
	row := entity.NewRange(&entity.Job{ID: "j", Version: 2}, entity.SkippedRange{
		First: noon, End: noon.Add(time.Hour), Count: 3600, AtLeast: true, Reason: entity.ReasonMisfire,
	}, noon.Add(2*time.Hour))
	require.Equal(t, identity.RangeKey(noon), row.FireKey)
	require.NotEqual(t, identity.ExecutionID(noon, "j", identity.FireKey(noon), 0), row.ID)
	require.Equal(t, []any{noon, noon.Add(time.Hour), 3600, true},
		[]any{row.SkipFrom, row.SkipTo, row.SkipCount, row.SkipAtLeast})
	require.Equal(t, []any{entity.StatusSkipped, entity.ReasonMisfire, 2}, []any{row.Status, row.Reason, row.JobVersion})
}
