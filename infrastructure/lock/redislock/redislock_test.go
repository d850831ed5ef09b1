package redislock_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/locktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/redislock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// space gives a test locks of its own, which are gone when it ends.
func space(t testing.TB, client redis.UniversalClient) (name string, forget func(t testing.TB)) {
	name = "test-" + rand.Text()
	forget = func(t testing.TB) { redistest.Forget(t, client, "{"+name+":lock}:") }
	return name, forget
}

func TestRedisKeepsTheContractOfLocks(t *testing.T) { redistest.Each(t, keepsTheContract) }

func keepsTheContract(t *testing.T, cfg config.Redis) {
	client := redistest.Open(t, cfg)
	name, forget := space(t, client)
	one, two := redislock.New(client, name), redislock.New(redistest.Open(t, cfg), name)
	locktest.Run(t, locktest.Subject{
		One: one, Two: two, Pass: time.Sleep, Empty: func(t *testing.T) { forget(t) },
		Away: redislock.New(redistest.Open(t, redistest.Gone(t)), name),
	})
	locktest.Linearizable(t, one, two)
	forget(t)
}

func TestATokenFollowsTheFormerOneWhereTheClockDoesNot(t *testing.T) {
	redistest.NeedRedis(t)
	client := redistest.Open(t, redistest.Config())
	name, forget := space(t, client)
	const ahead = 9_000_000_000_000_000 // the year 2255, as if the clock had been set back since
	key := "{" + name + ":lock}:x"
	require.NoError(t, client.Set(t.Context(), key, fmt.Sprint(ahead, " 0 "), 0).Err())
	for n := range 3 {
		lease, ok, err := redislock.New(client, name).TryLock(t.Context(), "x", "a", time.Minute)
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, ahead+1+n, lease.Token, "to the last digit")
		require.WithinDuration(t, time.Now().Add(time.Minute), lease.Until, 10*time.Second)
		left, err := client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		require.InDelta(t, 24*time.Hour+time.Minute, left, float64(10*time.Second), "what is not used disappears in the end")
		ok, err = redislock.New(client, name).Unlock(t.Context(), lease)
		require.NoError(t, err)
		require.True(t, ok)
	}
	forget(t)
}

// calls counts the commands that are sent.
type calls struct{ n atomic.Int64 }

// DialHook implements redis.Hook.
func (c *calls) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c *calls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c *calls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestAllPartitionsAreOneRoundTrip(t *testing.T) {
	redistest.NeedRedis(t)
	client := redistest.Open(t, redistest.Config())
	name, forget := space(t, client)
	l, names := redislock.New(client, name), make([]string, 256)
	for i := range names {
		names[i] = fmt.Sprint("partition/", i)
	}
	claim := func() {
		granted, err := l.ClaimMany(t.Context(), names, "a", time.Minute)
		require.NoError(t, err)
		require.Equal(t, names, granted)
		require.NoError(t, l.ReleaseMany(t.Context(), names, "a"))
	}
	claim() // Redis knows the scripts now
	sent := &calls{}
	client.AddHook(sent)
	claim()
	require.EqualValues(t, 2, sent.n.Load())
	forget(t)
}

func BenchmarkClaimMany(b *testing.B) {
	redistest.NeedRedis(b)
	client := redistest.Open(b, redistest.Config())
	name, forget := space(b, client)
	locktest.Bench(b, redislock.New(client, name))
	forget(b)
}
