// Package inflighttest is the contract of the fires that wait or run.
package inflighttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// InFlightFires runs the suite over stores that open gives.
func InFlightFires(t *testing.T, open storetest.Opener) {
	t.Run("insert, read, change, delete", func(t *testing.T) { liveFireLife(t, open(t, nil)) })
	t.Run("what counts of them", func(t *testing.T) { liveFireCounts(t, open(t, nil)) })
	t.Run("the rows of a live fire", func(t *testing.T) { liveFireRows(t, open(t, nil)) })
	t.Run("the rows of a queued fire", func(t *testing.T) { queuedFireRows(t, open(t, nil)) })
	t.Run("the rows of a fire of a former release", func(t *testing.T) { olderFireRows(t, open(t, nil)) })
}

// oldest reads what is asked of live fires.
func oldest(t *testing.T, s *persistence.Store, asked ...repository.Oldest) (out []entity.InFlightFire) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		out, err = tx.InFlightFires.Oldest(ctx, asked)
		return err
	})
	return out
}

func liveFireLife(t *testing.T, s *persistence.Store) {
	fire := func(job int, key string, seq int64) entity.InFlightFire {
		return entity.InFlightFire{
			JobID: storetest.JobID(job), FireKey: key, Active: seq == 1, Remaining: 3, Seq: seq,
			Scheduled: seq%2 == 1, JobVersion: 4, CreateTime: storetest.Noon,
		}
	}
	all := []entity.InFlightFire{fire(2, "a", 2), fire(1, "z", 1), fire(1, "b", 2), fire(2, "c", 1)}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.InFlightFires.Insert(ctx, all) })
	read := func() []entity.InFlightFire {
		var asked []repository.Oldest
		for _, job := range []int{1, 2, 9} {
			asked = append(asked, repository.Oldest{JobID: storetest.JobID(job), Active: true, Limit: 10},
				repository.Oldest{JobID: storetest.JobID(job), Limit: 10})
		}
		return oldest(t, s, asked...)
	}
	require.Equal(t, []entity.InFlightFire{fire(1, "z", 1), fire(1, "b", 2), fire(2, "c", 1), fire(2, "a", 2)}, read())
	one, two := fire(1, "z", 1), fire(2, "a", 2)
	one.Active, one.Remaining = false, 2
	two.Active, two.Remaining = true, 1
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.InFlightFires.Update(ctx, []entity.InFlightFire{two, one})
	})
	require.Equal(t, []entity.InFlightFire{one, fire(1, "b", 2), fire(2, "c", 1), two}, read())
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.InFlightFires.Delete(ctx, []entity.InFlightFire{two, fire(1, "b", 2)})
	})
	require.Equal(t, []entity.InFlightFire{one, fire(2, "c", 1)}, read())
}

func liveFireCounts(t *testing.T, s *persistence.Store) {
	jobs := []*entity.Job{
		storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon),
		storetest.PlannedJob(3, storetest.Noon),
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Jobs.Insert(ctx, jobs...); err != nil {
			return err
		}
		var fires []entity.InFlightFire
		for n := range 120 { // more than one statement asks of
			f := entity.InFlightFire{
				JobID: storetest.JobID(1), FireKey: fmt.Sprintf("%03d", 999-n), Active: n < 3, Remaining: 1,
				Seq: int64(n + 1), CreateTime: storetest.Noon,
			}
			fires = append(fires, f)
		}
		return tx.InFlightFires.Insert(ctx,
			append(fires, entity.InFlightFire{
				JobID: storetest.JobID(2), FireKey: "x", Active: true, Remaining: 1, Seq: 7,
				CreateTime: storetest.Noon,
			}))
	})
	want := map[string]repository.FireCount{
		storetest.JobID(1): {Active: 3, FirstQueued: 4},
		storetest.JobID(2): {Active: 1}, storetest.JobID(3): {},
	}
	ids := []string{storetest.JobID(3), storetest.JobID(1), storetest.JobID(2), storetest.JobID(9)}
	counts, err := s.CountFires(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, want, counts)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		counts, err := tx.InFlightFires.Count(ctx, ids)
		require.NoError(t, err)
		require.Equal(t, want, counts)
		for limit, n := range map[int]int{1: 1, 100: 100, 1000: 117} {
			got, err := tx.InFlightFires.CountQueued(ctx, storetest.JobID(1), limit)
			require.NoError(t, err)
			require.Equal(t, n, got)
		}
		none, err := tx.InFlightFires.CountQueued(ctx, storetest.JobID(2), 10)
		require.Zero(t, none)
		return err
	})
	first := oldest(t, s, repository.Oldest{JobID: storetest.JobID(1), Limit: 2},
		repository.Oldest{JobID: storetest.JobID(2), Active: true, Limit: 5},
		repository.Oldest{JobID: storetest.JobID(3), Limit: 1})
	require.Equal(t, []int64{4, 5, 7}, []int64{first[0].Seq, first[1].Seq, first[2].Seq})
	require.Empty(t, oldest(t, s))
}

// sharded is one shard of three of a fire of job 1, with an id of that moment.
func sharded(i int, at time.Time, key string) *entity.Execution {
	e := storetest.RunOf(storetest.JobID(1), at)
	e.FireKey, e.ShardIndex, e.ShardTotal = key, i, 3
	e.ID = identity.ExecutionID(at, e.JobID, key, i)
	return e
}

// rowsOf reads the rows of a live fire.
func rowsOf(t *testing.T, s *persistence.Store, f entity.InFlightFire) (out []string) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.InFlightFires.ExecutionsOf(ctx, f)
		out = storetest.IDs(rows)
		return err
	})
	return out
}

func liveFireRows(t *testing.T, s *persistence.Store) {
	missed := storetest.Noon.AddDate(0, 0, -40) // caught up long after its time
	planned := []*entity.Execution{
		sharded(0, missed, identity.FireKey(missed)),
		sharded(1, missed, identity.FireKey(missed)), sharded(2, missed, identity.FireKey(missed)),
	}
	storetest.StartedOn(planned[0], "n1", 1)
	planned[2].Status, planned[2].Claim = entity.StatusSuccess, ""
	// The moment of the key counts, wherever the clocks of nodes stand.
	long := storetest.Noon.Add(-time.Hour)
	id := identity.RandomID(long)
	byHand := []*entity.Execution{sharded(0, long, "MANUAL:"+id), sharded(1, long, "MANUAL:"+id)}
	byHand[0].Claim = entity.ScheduledKey(storetest.Noon)
	other := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	stranger := sharded(0, long, "MANUAL:"+id)
	stranger.JobID, stranger.ID = storetest.JobID(2), identity.ExecutionID(long, storetest.JobID(2), stranger.FireKey, 0)
	backfilled := sharded(0, missed, identity.BackfillKey(missed))
	nameless := sharded(0, storetest.Noon, "manual")
	storetest.Add(t, s, nil, append(append(planned, byHand...), other, stranger, backfilled, nameless)...)
	fire := func(key string, remaining int) entity.InFlightFire {
		return entity.InFlightFire{
			JobID: storetest.JobID(1), FireKey: key, Active: true, Remaining: remaining,
			CreateTime: storetest.Noon,
		}
	}
	require.Equal(t, []string{min(planned[0].ID, planned[1].ID), max(planned[0].ID, planned[1].ID)},
		rowsOf(t, s, fire(identity.FireKey(missed), 2)))
	require.Equal(t, []string{min(byHand[0].ID, byHand[1].ID), max(byHand[0].ID, byHand[1].ID)},
		rowsOf(t, s, fire("MANUAL:"+id, 2)))
	require.Equal(t, []string{backfilled.ID}, rowsOf(t, s, fire(backfilled.FireKey, 1)))
	require.Equal(t, []string{other.ID}, rowsOf(t, s, fire(other.FireKey, 1)))
	require.Equal(t, []string{nameless.ID}, rowsOf(t, s, fire("manual", 1)), "a key that tells no moment is merely slower")
	none := fire(identity.FireKey(storetest.Noon.Add(time.Hour)), 1)
	require.Empty(t, rowsOf(t, s, none))
	ended := fire(identity.FireKey(missed), 2)
	ended.JobID = storetest.JobID(9)
	queued := none
	queued.Active = false
	many := []entity.InFlightFire{
		fire(identity.FireKey(missed), 2), none, fire("MANUAL:"+id, 2), fire(backfilled.FireKey, 1), queued, ended,
	}
	for range 60 { // more than one statement asks of
		many = append(many, fire(other.FireKey, 1))
	}
	runless, err := s.RunlessFires(t.Context(), append(many, none))
	require.NoError(t, err)
	require.Equal(t, []entity.InFlightFire{none, ended, none}, runless)
	runless, err = s.RunlessFires(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, runless)
}

// A fire that waits for its job is found by its number alone.
func queuedFireRows(t *testing.T, s *persistence.Store) {
	queued := []*entity.Execution{
		sharded(0, storetest.Noon.Add(-time.Hour), "a"),
		sharded(1, storetest.Noon.Add(time.Hour), "a"),
	}
	next := sharded(0, storetest.Noon, "b")
	for _, e := range queued {
		e.Claim = entity.QueuedKey(storetest.JobID(1), 7)
	}
	next.Claim = entity.QueuedKey(storetest.JobID(1), 8)
	storetest.Add(t, s, nil, append(queued, next)...)
	require.Equal(t, storetest.IDs(queued),
		rowsOf(t, s, entity.InFlightFire{JobID: storetest.JobID(1), FireKey: "a", Seq: 7, Remaining: 2}))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.TryLockAt(ctx,
			[]entity.ClaimKey{next.Claim, queued[0].Claim, entity.QueuedKey(storetest.JobID(2), 7)})
		require.ElementsMatch(t, append(storetest.IDs(queued), next.ID), storetest.IDs(rows))
		return err
	})
}

// A release before made the ids of runs some moments after that of the key, by
// the clock of one node.
func olderFireRows(t *testing.T, s *persistence.Store) {
	made := storetest.Noon.Add(-90 * time.Minute)
	id := identity.RandomID(made)
	key := "API:" + id
	first, second := sharded(0, made, key), sharded(1, made.Add(3*time.Second), key)
	storetest.Add(t, s, nil, first, second)
	require.Equal(t, []string{first.ID, second.ID},
		rowsOf(t, s, entity.InFlightFire{JobID: storetest.JobID(1), FireKey: key, Active: true, Remaining: 2}))
}
