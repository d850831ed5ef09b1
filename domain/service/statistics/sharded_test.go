package statistics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// fireOf makes the ends of all shards of a fire.
func fireOf(t require.TestingT, total int, change func(shard int, e *entity.Execution)) []statistics.End {
	shards := make([]*entity.Execution, total)
	for i := range shards {
		shards[i] = plain(0)
		shards[i].FireKey, shards[i].ShardIndex, shards[i].ShardTotal = "fire", i, total
		change(i, shards[i])
	}
	return decoded(t, shards)
}

func TestAShardedFireIsOneRun(t *testing.T) {
	t.Parallel()
	ends := fireOf(t, 3, func(shard int, e *entity.Execution) {
		e.Duration = time.Duration(3-shard) * time.Minute
		e.DueTime = e.StartTime.Add(-time.Duration(shard) * time.Second)
		e.EndTime = now.Add(time.Duration(-shard) * time.Hour)
		if shard == 1 {
			e.Status, e.Reason, e.RetryCount, e.JobVersion = entity.StatusTimeout, entity.ReasonTimeout, 4, 9
		}
	})
	var fire statistics.ShardedFire
	require.False(t, fire.Complete(), "nothing is known of it")
	require.True(t, fire.Apply(1, ends[1:]))
	require.False(t, fire.Complete())
	require.False(t, fire.Apply(1, ends[:1]), "the batch has been applied")
	require.False(t, fire.Complete())
	require.True(t, fire.Apply(2, ends[:2]))
	require.True(t, fire.Complete())
	require.False(t, fire.Apply(2, ends[:2]), "the batch is repeated")
	require.True(t, fire.CompletedBy(2), "and counts the run again")
	require.False(t, fire.Apply(3, ends))
	require.False(t, fire.CompletedBy(3), "but no other one")
	run := fire.Run()
	require.Equal(t, statistics.End{
		Job: ends[0].Job, Status: entity.StatusTimeout, Trigger: entity.TriggerSchedule, Reason: entity.ReasonTimeout,
		Version: 9, At: now, Started: true, Duration: 3 * time.Minute, Timed: true, Lateness: 2 * time.Second,
		Retries: 4, Fires: 1,
	}, run)

	sums := statistics.NewSums()
	for i := range ends {
		sums.Add(&ends[i], "g")
	}
	sums.Add(&run, "g")
	require.Len(t, sums.Jobs(), 1)
	require.EqualValues(t, 1, sums.Job(sums.Jobs()[0]).Runs)
}

func TestShardsEndInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(2, 40).Draw(t, "shards")
		ends := fireOf(t, total, func(_ int, e *entity.Execution) {
			other := execution(t)
			e.Status, e.Reason, e.RetryCount, e.Duration = other.Status, other.Reason, other.RetryCount, other.Duration
			e.EndTime, e.Attempt = other.EndTime, other.Attempt
		})
		var once, parts statistics.ShardedFire
		once.Apply(1, ends)

		shuffled := rapid.Permutation(ends).Draw(t, "order")
		for seq := int64(1); len(shuffled) > 0; seq++ {
			require.False(t, parts.Complete())
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "batch")
			parts.Apply(seq, shuffled[:n])
			parts.Apply(seq, shuffled[:n])
			read, err := statistics.DecodeShardedFire(parts.Append(nil))
			require.NoError(t, err)
			read.FoldSeq = seq
			require.Equal(t, parts, *read)
			parts = *read
			shuffled = shuffled[n:]
		}
		require.True(t, once.Complete())
		require.True(t, parts.Complete())
		require.Equal(t, once.Run(), parts.Run())

		states := make([]entity.Status, total)
		for i, e := range ends {
			states[i] = e.Status
		}
		require.Equal(t, entity.Fold(states), once.Run().Status, "as the ledger says")
	})
}

func TestAnotherFiresShardsAreLeftOut(t *testing.T) {
	t.Parallel()
	ends := fireOf(t, 2, func(int, *entity.Execution) {})
	others := fireOf(t, 2, func(_ int, e *entity.Execution) { e.FireKey = "other" })
	var fire statistics.ShardedFire
	fire.Apply(1, ends[:1])
	fire.Apply(2, append(others, decoded(t, []*entity.Execution{plain(0)})...))
	require.False(t, fire.Complete())
}

func TestOldAndHostileShardedFiresAreRefused(t *testing.T) {
	t.Parallel()
	var fire statistics.ShardedFire
	fire.Apply(1, fireOf(t, 9, func(int, *entity.Execution) {})[8:])
	good := fire.Append(nil)
	for n := range good {
		_, err := statistics.DecodeShardedFire(good[:n])
		require.ErrorIs(t, err, statistics.ErrCorrupt, "%d bytes", n)
	}
	beyond := append([]byte(nil), good...)
	beyond[len(beyond)-1] |= 0x02
	for name, data := range map[string][]byte{
		"another version":      append([]byte{2}, good[1:]...),
		"bytes behind":         append(append([]byte(nil), good...), 0),
		"a shard that is none": beyond,
	} {
		_, err := statistics.DecodeShardedFire(data)
		require.ErrorIs(t, err, statistics.ErrCorrupt, name)
	}
}

func FuzzDecodeShardedFire(f *testing.F) {
	var fire statistics.ShardedFire
	fire.Apply(1, fireOf(f, 9, func(int, *entity.Execution) {})[3:])
	f.Add(fire.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		fire, err := statistics.DecodeShardedFire(data)
		if err != nil {
			require.ErrorIs(t, err, statistics.ErrCorrupt)
			return
		}
		again, err := statistics.DecodeShardedFire(fire.Append(nil))
		require.NoError(t, err)
		require.Equal(t, fire.Complete(), again.Complete())
		require.Equal(t, fire.Run().Status, again.Run().Status)
	})
}
