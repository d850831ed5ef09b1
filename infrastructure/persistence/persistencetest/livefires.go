package persistencetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

func testLiveFires(t *testing.T, open Opener) {
	t.Run("insert, read, change, delete", func(t *testing.T) { liveFireLife(t, open(t, nil)) })
	t.Run("the rows of a live fire", func(t *testing.T) { liveFireRows(t, open(t, nil)) })
}

func liveFireLife(t *testing.T, s *persistence.Store) {
	fire := func(job int, key string, seq int64) entity.LiveFire {
		return entity.LiveFire{JobID: jobID(job), FireKey: key, Active: seq == 1, Remaining: 3, Seq: seq, Scheduled: seq%2 == 1, JobVersion: 4, CreateTime: noon}
	}
	all := []entity.LiveFire{fire(2, "a", 2), fire(1, "z", 1), fire(1, "b", 2), fire(2, "c", 1)}
	write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.LiveFires.Insert(ctx, all) })
	read := func() (out []entity.LiveFire) {
		write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			out, err = tx.LiveFires.OfJobs(ctx, []string{jobID(2), jobID(1), jobID(9)})
			return err
		})
		return out
	}
	require.Equal(t, []entity.LiveFire{fire(1, "z", 1), fire(1, "b", 2), fire(2, "c", 1), fire(2, "a", 2)}, read())
	one, two := fire(1, "z", 1), fire(2, "a", 2)
	one.Active, one.Remaining = false, 2
	two.Active, two.Remaining = true, 1
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.LiveFires.Update(ctx, []entity.LiveFire{two, one})
	})
	require.Equal(t, []entity.LiveFire{one, fire(1, "b", 2), fire(2, "c", 1), two}, read())
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.LiveFires.Delete(ctx, []entity.LiveFire{two, fire(1, "b", 2)})
	})
	require.Equal(t, []entity.LiveFire{one, fire(2, "c", 1)}, read())
}

func liveFireRows(t *testing.T, s *persistence.Store) {
	shard := func(i int, at time.Time, key string) *entity.Execution {
		e := runOf(jobID(1), at)
		e.FireKey, e.ShardIndex, e.ShardTotal = key, i, 3
		e.ID = identity.ExecutionID(at, e.JobID, key, i)
		return e
	}
	missed := noon.AddDate(0, 0, -40) // caught up long after its time
	planned := []*entity.Execution{shard(0, missed, identity.FireKey(missed)), shard(1, missed, identity.FireKey(missed)), shard(2, missed, identity.FireKey(missed))}
	startedOn(planned[0], "n1", 1)
	planned[2].Status, planned[2].Claim = entity.StatusSuccess, ""
	manual := []*entity.Execution{shard(0, noon, "manual"), shard(1, noon.Add(5*time.Millisecond), "manual")}
	manual[0].Claim = entity.ParkedKey(noon)
	other := runOf(jobID(1), noon)
	stranger := shard(0, noon, "manual")
	stranger.JobID, stranger.ID = jobID(2), identity.ExecutionID(noon, jobID(2), "manual", 0)
	repeated := shard(0, noon.Add(time.Second), identity.FireKey(missed)) // a replay keeps the fire's key
	backfilled := shard(0, missed, identity.BackfillKey(missed))
	add(t, s, nil, append(append(planned, manual...), other, stranger, repeated, backfilled)...)
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		require.NoError(t, tx.LiveFires.Insert(ctx, []entity.LiveFire{
			{JobID: jobID(1), FireKey: identity.FireKey(missed), Active: true, Remaining: 2, CreateTime: noon},
			{JobID: jobID(1), FireKey: "manual", Remaining: 2, CreateTime: noon},
			{JobID: jobID(1), FireKey: backfilled.FireKey, Remaining: 1, CreateTime: noon},
		}))
		rows, err := tx.LiveFires.RowsOf(ctx, jobID(1), identity.FireKey(missed))
		require.NoError(t, err)
		want := []string{min(planned[0].ID, planned[1].ID), max(planned[0].ID, planned[1].ID), repeated.ID}
		require.Equal(t, want, ids(rows))
		rows, err = tx.LiveFires.RowsOf(ctx, jobID(1), "manual")
		require.NoError(t, err)
		require.Equal(t, ids(manual), ids(rows))
		rows, err = tx.LiveFires.RowsOf(ctx, jobID(1), backfilled.FireKey)
		require.NoError(t, err)
		require.Equal(t, []string{backfilled.ID}, ids(rows))
		rows, err = tx.LiveFires.RowsOf(ctx, jobID(1), identity.FireKey(noon))
		require.NoError(t, err)
		require.Equal(t, []string{other.ID}, ids(rows), "without a live fire the search is merely slower")
		return nil
	})
}
