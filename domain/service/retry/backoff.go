package retry

import (
	"math"
	"math/bits"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxWait bounds every wait, whoever asked for it.
const MaxWait = 24 * time.Hour

// Backoff is the wait before the given retry, counted from 1, in whole milliseconds. It is
// the interval (FIXED), the interval times the number (LINEAR), or the interval doubled
// each time (EXPONENTIAL). The policy's jitter spreads it by ± with random in [0, 1), and
// it never exceeds the policy's cap or MaxWait. It is between 0 and that cap for any
// input; a cap of 0 or less is none.
func Backoff(p entity.RetryPolicy, number int, random float64) time.Duration {
	limit := longest(p).Milliseconds()
	wait := grow(p.Backoff, uint64(max(p.IntervalMs, 0)), uint64(max(number, 1)), uint64(limit))
	share := within(p.Jitter)
	spread := float64(wait) * share * (2*within(random) - 1)
	ms := int64(math.Round(float64(wait) + spread))
	return time.Duration(min(max(ms, 0), limit)) * time.Millisecond
}

// longest is the longest wait of a policy.
func longest(p entity.RetryPolicy) time.Duration {
	if p.MaxIntervalMs > 0 && p.MaxIntervalMs < MaxWait.Milliseconds() {
		return time.Duration(p.MaxIntervalMs) * time.Millisecond
	}
	return MaxWait
}

// grow multiplies without overflow; what exceeds the limit is the limit.
func grow(shape entity.Backoff, interval, number, limit uint64) uint64 {
	factor := uint64(1)
	switch shape {
	case entity.BackoffLinear:
		factor = number
	case entity.BackoffExponential:
		factor = uint64(1) << min(number-1, 63)
	}
	high, low := bits.Mul64(interval, factor)
	if high != 0 {
		return limit
	}
	return min(low, limit)
}

// within forces a share into [0, 1]; what is not a number is 0.
func within(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
