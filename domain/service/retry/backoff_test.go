package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape entity.Backoff
		want  []time.Duration
	}{
		{entity.BackoffFixed, []time.Duration{1, 1, 1, 1, 1}},
		{"", []time.Duration{1, 1, 1, 1, 1}},
		{entity.BackoffLinear, []time.Duration{1, 2, 3, 4, 5}},
		{entity.BackoffExponential, []time.Duration{1, 2, 4, 8, 10}},
	} {
		for i, want := range c.want {
			p := entity.RetryPolicy{Backoff: c.shape, IntervalMs: 1000, MaxIntervalMs: 10_000}
			require.Equal(t, want*time.Second, retry.Backoff(p, i+1, 0.9), "%s %d", c.shape, i+1)
		}
	}
}

func TestJitterSpreadsBothWays(t *testing.T) {
	t.Parallel()
	p := entity.RetryPolicy{IntervalMs: 10_000, MaxIntervalMs: 60_000, Jitter: 0.1}
	for random, want := range map[float64]time.Duration{
		0: 9000, 0.25: 9500, 0.5: 10_000, 0.75: 10_500, math.Nextafter(1, 0): 11_000,
	} {
		require.Equal(t, want*time.Millisecond, retry.Backoff(p, 1, random))
	}
	p.MaxIntervalMs = 10_000
	require.Equal(t, 10*time.Second, retry.Backoff(p, 1, 0.9), "the cap holds after the spread")
}

func TestBackoffOfExtremes(t *testing.T) {
	t.Parallel()
	for _, shape := range []entity.Backoff{entity.BackoffFixed, entity.BackoffLinear, entity.BackoffExponential} {
		p := entity.RetryPolicy{Backoff: shape, IntervalMs: math.MaxInt64, Jitter: 1}
		require.Equal(t, retry.MaxWait, retry.Backoff(p, math.MaxInt, 0.5), "%s", shape)
		p = entity.RetryPolicy{Backoff: shape, IntervalMs: 3, MaxIntervalMs: 1000}
		if shape != entity.BackoffFixed {
			require.Equal(t, time.Second, retry.Backoff(p, math.MaxInt, 0.5), "%s", shape)
		}
	}
	require.Zero(t, retry.Backoff(entity.RetryPolicy{}, 5, 0.5))
	require.Zero(t, retry.Backoff(entity.RetryPolicy{IntervalMs: -4, Jitter: 1}, math.MinInt, 0.5))
}

func FuzzBackoff(f *testing.F) {
	f.Add(0, 1, int64(1000), int64(60_000), 0.1, 0.5)
	f.Add(2, 64, int64(1), int64(0), 1.0, 0.999)
	f.Add(2, 65, int64(math.MaxInt64), int64(math.MaxInt64), math.Inf(1), math.NaN())
	f.Add(1, math.MaxInt, int64(math.MaxInt64), int64(-1), math.NaN(), -1.0)
	f.Add(1, math.MinInt, int64(math.MinInt64), int64(1), 0.5, 0.0)
	f.Fuzz(func(t *testing.T, shape, number int, interval, limit int64, jitter, random float64) {
		shapes := []entity.Backoff{entity.BackoffFixed, entity.BackoffLinear, entity.BackoffExponential, "?"}
		p := entity.RetryPolicy{Backoff: shapes[uint(shape)%4], IntervalMs: interval, MaxIntervalMs: limit, Jitter: jitter}
		wait := retry.Backoff(p, number, random)
		require.GreaterOrEqual(t, wait, time.Duration(0))
		require.LessOrEqual(t, wait, retry.MaxWait)
		require.Zero(t, wait%time.Millisecond)
		if limit > 0 && limit < retry.MaxWait.Milliseconds() {
			require.LessOrEqual(t, wait.Milliseconds(), limit)
		}
		p.Jitter = 0
		plain := retry.Backoff(p, number, random)
		require.Equal(t, plain, retry.Backoff(p, number, 0.123), "no jitter, no chance")
		if number > 0 && number < math.MaxInt {
			require.LessOrEqual(t, plain, retry.Backoff(p, number+1, 0), "waits do not shrink")
		}
	})
}
