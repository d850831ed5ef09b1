package executiontest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Counts runs the suite over stores that open gives.
func Counts(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	jobs := make([]*entity.Job, 6) // 0, 2, 4 in a, the others in b
	for n := range jobs {
		jobs[n] = storetest.PlannedJob(n, storetest.Noon)
		jobs[n].Group = []string{"a", "b"}[n%2]
	}
	jobs[1].Status, jobs[2].Status, jobs[3].Status = entity.JobPaused, entity.JobCreated, entity.JobFinished
	var runs []*entity.Execution
	for n := range 8 { // of jobs 0 and 1 in turn, a minute apart; the last four run
		run := storetest.RunOf(storetest.JobID(n%2), storetest.Noon.Add(time.Duration(n)*time.Minute))
		if n >= 4 {
			run = storetest.StartedOn(run, "node-1", 1)
		}
		runs = append(runs, run)
	}
	storetest.Add(t, s, jobs, runs...)
	var letters []entity.DeadLetter
	for _, run := range runs[:3] {
		letters = append(letters, entity.DeadLetter{ExecutionID: run.ID, JobID: run.JobID, CreateTime: storetest.Noon})
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		gone := *jobs[4]
		if err := tx.Jobs.Update(ctx, &gone, true); err != nil {
			return err
		}
		if _, err := tx.Executions.Finish(ctx, []repository.Finish{
			storetest.FinishOf(runs[7]),
			storetest.FinishOf(runs[6]),
		}, storetest.Noon); err != nil {
			return err
		}
		if err := tx.Records.AddDeadLetters(ctx, letters); err != nil {
			return err
		}
		return tx.Records.MarkReplayed(ctx, runs[0].ID, runs[7].ID)
	})
	t.Run("jobs", func(t *testing.T) { talliedJobs(t, s) })
	t.Run("runs", func(t *testing.T) { talliedRuns(t, s) })
	t.Run("claims and letters", func(t *testing.T) { talliedQueues(t, s) })
}

func talliedJobs(t *testing.T, s *persistence.Store) {
	for _, c := range []struct {
		groups []string
		want   map[entity.JobStatus]int
	}{
		{nil, map[entity.JobStatus]int{
			entity.JobEnabled: 2, entity.JobPaused: 1, entity.JobCreated: 1,
			entity.JobFinished: 1,
		}},
		{[]string{"a"}, map[entity.JobStatus]int{entity.JobEnabled: 1, entity.JobCreated: 1}},
		{[]string{"a", "b", "none"}, map[entity.JobStatus]int{
			entity.JobEnabled: 2, entity.JobPaused: 1, entity.JobCreated: 1,
			entity.JobFinished: 1,
		}},
		{[]string{}, map[entity.JobStatus]int{}},
	} {
		got, err := s.CountJobs(t.Context(), c.groups)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.groups)
	}
}

func talliedRuns(t *testing.T, s *persistence.Store) {
	for _, c := range []struct {
		since  time.Duration
		groups []string
		limit  int
		want   map[entity.Status]int
		cut    bool
	}{
		{0, nil, 9, map[entity.Status]int{entity.StatusWaiting: 4, entity.StatusRunning: 2, entity.StatusSuccess: 2}, false},
		{2 * time.Minute, nil, 9, map[entity.Status]int{
			entity.StatusWaiting: 2, entity.StatusRunning: 2,
			entity.StatusSuccess: 2,
		}, false},
		{0, nil, 3, map[entity.Status]int{entity.StatusRunning: 1, entity.StatusSuccess: 2}, true},
		{0, []string{"a"}, 9, map[entity.Status]int{
			entity.StatusWaiting: 2, entity.StatusRunning: 1,
			entity.StatusSuccess: 1,
		}, false},
		{0, []string{"a"}, 3, map[entity.Status]int{entity.StatusRunning: 0, entity.StatusSuccess: 1}, true},
		{
			0,
			[]string{},
			9,
			map[entity.Status]int{entity.StatusWaiting: 0, entity.StatusRunning: 0, entity.StatusSuccess: 0},
			false,
		},
		{time.Hour, nil, 9, map[entity.Status]int{}, false},
	} {
		got, cut, err := s.CountRuns(t.Context(), storetest.Noon.Add(c.since), c.groups, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c)
		require.Equal(t, c.cut, cut, c)
	}
}

func talliedQueues(t *testing.T, s *persistence.Store) {
	type count = repository.SpanCount
	ready := entity.ClaimSpan{Lo: entity.ReadySpan().Lo, Hi: entity.NodeQueues}
	spans := []entity.ClaimSpan{entity.ScheduledSpan(), ready, entity.HeldSpan()}
	for _, c := range []struct {
		groups []string
		limit  int
		want   []count
	}{
		{nil, 5, []count{{}, {N: 4}, {N: 2}}},
		{nil, 4, []count{{}, {N: 4, Cut: true}, {N: 2}}},
		{[]string{"a"}, 5, []count{{}, {N: 2}, {N: 1}}},
		{[]string{"a"}, 2, []count{{}, {N: 1, Cut: true}, {N: 1, Cut: true}}},
		{[]string{}, 5, []count{{}, {}, {}}},
	} {
		got, err := s.CountClaims(t.Context(), spans, c.groups, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c)
	}
	letters := func(groups []string, limit int) count {
		n, cut, err := s.CountLetters(t.Context(), groups, limit)
		require.NoError(t, err)
		return count{N: n, Cut: cut}
	}
	require.Equal(t, count{N: 2}, letters(nil, 5), "one was replayed")
	require.Equal(t, count{N: 1, Cut: true}, letters(nil, 1))
	require.Equal(t, count{N: 1}, letters([]string{"a"}, 5))
	require.Equal(t, count{}, letters([]string{}, 5))
}
