package grouptest

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

// Places runs the suite over stores that open gives.
func Places(t *testing.T, open storetest.Opener) {
	t.Run("take, count, release", func(t *testing.T) { placeLife(t, open(t, nil)) })
	t.Run("places whose fire is over", func(t *testing.T) { emptyPlaces(t, open(t, nil)) })
	t.Run("what waits for a group", func(t *testing.T) { waitingForGroup(t, open(t, nil)) })
	t.Run("the lock of a group", func(t *testing.T) { groupLock(t, open(t, nil)) })
	t.Run("jobs that do not know of a limit", func(t *testing.T) { limitOutOfSync(t, open(t, nil)) })
}

func placeOf(group string, job int, fire string) entity.GroupSlot {
	return entity.GroupSlot{Group: group, JobID: storetest.JobID(job), FireKey: fire}
}

func fireOf(job int, fire string) entity.InFlightFire {
	return entity.InFlightFire{
		JobID: storetest.JobID(job), FireKey: fire, Active: true, Remaining: 1,
		CreateTime: storetest.Noon,
	}
}

func take(t *testing.T, s *persistence.Store, places ...entity.GroupSlot) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Groups.Take(ctx, places) })
}

func placeLife(t *testing.T, s *persistence.Store) {
	count := func(group string) (n int) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			n, err = tx.Groups.CountSlots(ctx, group)
			return err
		})
		return n
	}
	require.NoError(t, s.AddGroup(t.Context(), entity.Group{Name: "a", MaxConcurrency: 3, CreateTime: storetest.Noon}))
	require.NoError(t, s.AddGroup(t.Context(), entity.Group{Name: "日本", MaxConcurrency: 1, CreateTime: storetest.Noon}))
	take(t, s, placeOf("a", 1, "x"), placeOf("a", 1, "y"), placeOf("日本", 2, "x"))
	take(t, s, placeOf("a", 1, "x"))
	require.Equal(t, []int{2, 1, 0}, []int{count("a"), count("日本"), count("b")}, "one place a fire")
	roomy, err := s.GroupsWithFreeSlots(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, roomy)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Groups.Release(ctx, []entity.InFlightFire{fireOf(1, "x"), fireOf(1, "unknown"), fireOf(2, "x")})
	})
	require.Equal(t, []int{1, 0}, []int{count("a"), count("日本")})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Groups.ReleaseJob(ctx, storetest.JobID(1))
	})
	require.Zero(t, count("a"))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		limits, err := tx.Groups.Lock(ctx, []string{"日本", "a", "unknown", "a"})
		require.Equal(t, map[string]int{"a": 3, "日本": 1}, limits)
		return err
	})
}

func emptyPlaces(t *testing.T, s *persistence.Store) {
	over, runs := storetest.RunOf(storetest.JobID(1), storetest.Noon),
		storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Minute))
	over.Status, over.Claim, over.EndTime = entity.StatusSuccess, "", storetest.Noon
	storetest.Add(t, s, nil, over, runs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.InFlightFires.Insert(ctx, []entity.InFlightFire{
			fireOf(1, over.FireKey), fireOf(1, runs.FireKey),
			fireOf(2, "known"),
		})
	})
	adopted, going := placeOf("a", 1, over.FireKey), placeOf("a", 1, runs.FireKey)
	adopted.ExecutionID, going.ExecutionID = over.ID, runs.ID
	take(t, s, adopted, going, placeOf("a", 2, "known"), placeOf("a", 3, "no fire"))
	var empty []entity.GroupSlot
	for _, after := range []entity.GroupSlot{{}, adopted, placeOf("a", 3, "no"), placeOf("a", 3, "no fire")} {
		page, err := s.LeftoverSlots(t.Context(), after, 1)
		require.NoError(t, err)
		empty = append(empty, page...)
	}
	require.Equal(t, []entity.GroupSlot{adopted, placeOf("a", 3, "no fire"), placeOf("a", 3, "no fire")}, empty)
}

func waitingForGroup(t *testing.T, s *persistence.Store) {
	queue := entity.GroupQueue("a")
	rows := []*entity.Execution{
		storetest.RunOf(storetest.JobID(1), storetest.Noon),
		storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Second)),
		storetest.RunOf(storetest.JobID(2), storetest.Noon), storetest.RunOf(storetest.JobID(3), storetest.Noon),
	}
	rows[0].Claim, rows[1].Claim, rows[2].Claim = queue.Key(5, storetest.Noon),
		queue.Key(9, storetest.Noon.Add(time.Hour)), queue.Key(5, storetest.Noon.Add(-time.Second))
	rows[3].Claim = entity.GroupQueue("b").Key(10, storetest.Noon)
	storetest.Add(t, s, nil, rows...)
	next := func(limit int) (ids []string) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			found, err := tx.Groups.Next(ctx, "a", limit)
			for _, row := range found {
				ids = append(ids, row.ID)
			}
			return err
		})
		return ids
	}
	require.Equal(t, []string{rows[1].ID, rows[2].ID, rows[0].ID}, next(10), "by priority, then fair time")
	require.Equal(t, []string{rows[1].ID, rows[2].ID}, next(2))
	require.Empty(t, storetest.Claim(t, s, "n1", 10, storetest.Noon), "nobody takes them")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		grouped := func(row *entity.Execution) bool { return row.Claim.Grouped() }
		live, more, err := tx.Executions.LiveOf(ctx, storetest.JobID(1), 2, grouped)
		require.Len(t, live, 2)
		require.False(t, more)
		none, more, _ := tx.Executions.LiveOf(ctx, storetest.JobID(1), 1, grouped)
		require.Empty(t, none, "they are too many")
		require.True(t, more)
		one, _, _ := tx.Executions.LiveOf(ctx, storetest.JobID(1), 10, func(row *entity.Execution) bool {
			return row.FireKey == live[0].FireKey
		})
		require.Len(t, one, 1)
		for _, row := range live {
			row.Claim, row.UpdateTime = row.Claim.In(entity.CommonQueue), storetest.Noon.Add(time.Hour)
		}
		if err != nil {
			return err
		}
		return tx.Executions.Requeue(ctx, live)
	})
	require.Equal(t, []string{rows[2].ID}, next(10))
	require.Len(t, storetest.Claim(t, s, "n1", 10, storetest.Noon), 2)
}

// The holder of the lock of a group keeps edits of its limit and changes of its jobs
// waiting.
func groupLock(t *testing.T, s *persistence.Store) {
	require.NoError(t, s.AddGroup(t.Context(), entity.Group{Name: "a", MaxConcurrency: 1, CreateTime: storetest.Noon}))
	edited := make(chan error, 1)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Groups.Lock(ctx, []string{"a"}); err != nil {
			return err
		}
		go func() {
			_, err := s.LimitGroup(context.WithoutCancel(ctx), "a", 2, 0, storetest.Noon)
			edited <- err
		}()
		select {
		case <-edited:
			require.Fail(t, "the limit changed under the lock")
		case <-time.After(50 * time.Millisecond):
		}
		return nil
	})
	require.NoError(t, <-edited)
}

func limitOutOfSync(t *testing.T, s *persistence.Store) {
	knows := grouped(2, "a")
	knows.Limited = true
	storetest.Add(t, s, []*entity.Job{grouped(1, "a"), knows, grouped(3, "b")})
	g, err := s.LimitGroup(t.Context(), "a", 4, 0, storetest.Noon)
	require.NoError(t, err)
	require.False(t, g.Converged, "a first limit")
	strays := func(g entity.Group) []string {
		ids, err := s.JobsOutOfSync(t.Context(), g, "", 10)
		require.NoError(t, err)
		return ids
	}
	require.Equal(t, []string{storetest.JobID(1)}, strays(g))
	require.NoError(t, s.MarkConverged(t.Context(), "a", g.Version))
	g, err = s.LimitGroup(t.Context(), "a", 5, 0, storetest.Noon)
	require.NoError(t, err)
	require.True(t, g.Converged, "another limit")
	g, err = s.LimitGroup(t.Context(), "a", 0, 0, storetest.Noon)
	require.NoError(t, err)
	require.False(t, g.Converged, "none any more")
	require.Equal(t, []string{storetest.JobID(2)}, strays(g))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for _, group := range []string{"a", "new"} {
			terms, err := tx.Groups.Terms(ctx, group)
			require.NoError(t, err)
			require.Equal(t, []bool{false, false}, []bool{terms.Limited, terms.Paused()})
		}
		read, err := tx.Jobs.Read(ctx, []string{storetest.JobID(2), storetest.JobID(9)})
		require.Len(t, read, 1)
		require.True(t, read[0].Limited)
		return err
	})
	_, err = s.Group(t.Context(), "new")
	require.NoError(t, err, "asking makes the row that a limit would be set in")
}
