package statistics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// table is all that sums hold, to compare them.
func table(s *statistics.Sums) map[any]statistics.Row {
	rows := map[any]statistics.Row{}
	for _, name := range s.Jobs() {
		rows[name] = *s.Job(name)
	}
	for _, name := range s.Scopes() {
		rows[name] = *s.Scope(name)
	}
	return rows
}

func TestAnyOrderAndGroupingOfEndsGivesTheSameSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		executions := rapid.SliceOfN(rapid.Custom(execution), 1, 60).Draw(t, "executions")
		once := statistics.NewSums()
		for _, end := range decoded(t, executions) {
			once.Add(&end, "g")
		}

		shuffled := rapid.Permutation(executions).Draw(t, "order")
		parts := map[any]*statistics.StoredRow{}
		apply := func(name any, seq int64, row *statistics.Row) {
			if parts[name] == nil {
				parts[name] = &statistics.StoredRow{}
			}
			require.True(t, parts[name].Apply(seq, row))
			if rapid.Bool().Draw(t, "again") {
				require.False(t, parts[name].Apply(seq, row), "a batch counts once")
			}
		}
		for seq := int64(1); len(shuffled) > 0; seq++ {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "batch")
			batch := statistics.NewSums()
			for _, end := range decoded(t, shuffled[:n]) {
				batch.Add(&end, "g")
			}
			for _, name := range batch.Jobs() {
				apply(name, seq, batch.Job(name))
			}
			for _, name := range batch.Scopes() {
				apply(name, seq, batch.Scope(name))
			}
			shuffled = shuffled[n:]
		}
		want := table(once)
		require.Len(t, parts, len(want))
		for name, row := range parts {
			require.Equal(t, want[name], row.Row, "%v", name)
		}
	})
}

func TestWhatCountsWhere(t *testing.T) {
	t.Parallel()
	var row statistics.Row
	add := func(change func(e *entity.Execution)) {
		e := plain(0)
		change(e)
		row.Add(&decoded(t, []*entity.Execution{e})[0])
	}
	add(func(*entity.Execution) {})
	add(func(e *entity.Execution) {
		e.Trigger, e.Duration, e.DueTime = entity.TriggerAPI, 3*time.Second, time.Time{}
	})
	add(func(e *entity.Execution) {
		e.Status, e.DueTime = entity.StatusFailed, e.StartTime.Add(-2*time.Second)
	})
	add(func(e *entity.Execution) { // its lateness is that of the last attempt
		e.Status, e.Attempt, e.RetryCount, e.DueTime = entity.StatusDead, 3, 2, e.StartTime.Add(-time.Hour)
	})
	add(func(e *entity.Execution) { e.Status = entity.StatusTimeout })
	add(func(e *entity.Execution) { // it has waited, and never started
		e.Status, e.Attempt, e.StartTime, e.Duration = entity.StatusCancelled, 0, time.Time{}, 0
	})
	add(func(e *entity.Execution) {
		e.Status, e.Attempt, e.StartTime, e.Duration = entity.StatusSkipped, 0, time.Time{}, 0
	})
	add(func(e *entity.Execution) {
		e.Status, e.StartTime, e.Duration = entity.StatusSkipped, time.Time{}, 0
		e.SkipFrom, e.SkipTo, e.SkipCount = now.Add(-time.Hour), now, 60
	})
	add(func(e *entity.Execution) { // nobody knows how many
		e.Status, e.StartTime, e.Duration = entity.StatusSkipped, time.Time{}, 0
		e.SkipFrom, e.SkipTo, e.SkipAtLeast = now.Add(-time.Hour), now, true
	})
	durations, latenesses := row.Duration.Count(), row.Lateness.Count()
	row.Duration, row.Lateness = statistics.Histogram{}, statistics.Histogram{}
	require.Equal(t, statistics.Row{
		Runs: 6, Success: 2, Failed: 1, Timeout: 1, Cancelled: 1, Dead: 1, Skipped: 62, Retries: 2,
		DurationMs: 4*1500 + 3000, LatenessMs: 12 + 2000 + 12, LateRuns: 1,
	}, row)
	require.EqualValues(t, 5, durations)
	require.EqualValues(t, 3, latenesses)
}

func TestSumsCountByJobGroupNodeAndCluster(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	first, second, shard, one, other := plain(0), plain(0), plain(0), plain(0), plain(0)
	first.EndTime, second.EndTime = noon.Add(-time.Millisecond), noon
	second.JobID, second.NodeID = jobs[1], ""
	shard.ShardTotal = 2
	one.JobID, other.JobID = jobs[1], jobs[1]
	one.EndTime, one.NodeID = noon, worker.ID("shop.eu", "a")
	other.EndTime, other.NodeID, other.Status = noon, worker.ID("shop.eu", "b"), entity.StatusFailed
	sums := statistics.NewSums()
	for i, end := range decoded(t, []*entity.Execution{first, second, shard, one, other}) {
		sums.Add(&end, []string{"one", "two", "three", "two", "two"}[i])
	}
	eleven, twelve, ten := noon.Add(-time.Hour).UnixMilli(), noon.UnixMilli(), noon.Add(-2*time.Hour).UnixMilli()
	require.Equal(t, []statistics.ScopeHour{
		{Kind: "CLUSTER", Hour: eleven},
		{Kind: "CLUSTER", Hour: twelve},
		{Kind: "GROUP", Name: "one", Hour: eleven},
		{Kind: "GROUP", Name: "two", Hour: twelve},
		{Kind: "NODE", Name: "@shop.eu", Hour: twelve},
		{Kind: "NODE", Name: "scheduler-a-1:8080", Hour: ten},
		{Kind: "NODE", Name: "scheduler-a-1:8080", Hour: eleven},
	}, sums.Scopes(), "a shard counts where it ran, and for the others with its fire")
	names := sums.Jobs()
	require.Len(t, names, 2)
	require.Equal(t, []string{jobs[0], jobs[1]}, []string{identity.Text(names[0].Job), identity.Text(names[1].Job)})
	require.EqualValues(t, 1, sums.Job(names[0]).Success)
	workers := sums.Scope(statistics.ScopeHour{Kind: "NODE", Name: "@shop.eu", Hour: twelve})
	require.Equal(t, []int64{2, 1}, []int64{workers.Runs, workers.Failed}, "workers count by their group")
	require.Nil(t, sums.Job(statistics.JobHour{}))
	require.Nil(t, sums.Scope(statistics.ScopeHour{}))
}
