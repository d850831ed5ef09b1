package storeclock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// distantStore answers with a clock that is off by skew, after a round trip.
type distantStore struct {
	local *clocktest.Manual
	skew  time.Duration
	trip  time.Duration
	err   error
}

func (s *distantStore) StoreTime(context.Context) (time.Time, error) {
	s.local.Advance(s.trip / 2)
	now := s.local.Now().Add(s.skew)
	s.local.Advance(s.trip / 2)
	return now, s.err
}

func TestNowFollowsTheStoreAndIsNeverAhead(t *testing.T) {
	for name, skew := range map[string]time.Duration{
		"store ahead": time.Hour, "store behind": -3 * time.Second,
		"equal": 0,
	} {
		t.Run(name, func(t *testing.T) {
			local := clocktest.NewManual(start)
			c := storeclock.New(local, &distantStore{local: local, skew: skew, trip: 20 * time.Millisecond})
			require.NoError(t, c.Measure(t.Context()))
			truth := local.Now().Add(skew)
			require.False(t, c.Now().After(truth), "a fire must never be early")
			require.WithinDuration(t, truth, c.Now(), 20*time.Millisecond)
			require.False(t, c.Latest().Before(truth), "a rest must never be short")
			require.WithinDuration(t, truth, c.Latest(), 20*time.Millisecond)
			local.Advance(time.Hour)
			require.WithinDuration(t, truth.Add(time.Hour+1800*time.Millisecond), c.Latest(), 20*time.Millisecond,
				"the clocks may have parted since")
		})
	}
}

func TestMeasureKeepsTheOffsetWhenTheStoreIsAway(t *testing.T) {
	local := clocktest.NewManual(start)
	store := &distantStore{local: local, skew: time.Minute}
	c := storeclock.New(local, store)
	require.NoError(t, c.Measure(t.Context()))
	store.err = errors.New("away")
	require.ErrorContains(t, c.Measure(t.Context()), "away")
	require.Equal(t, time.Minute, c.Offset())
}

// The doubt that a slow answer leaves is not laid to the clock.
func TestTheOffsetIsWhatIsCertain(t *testing.T) {
	for _, c := range []struct{ skew, trip, want time.Duration }{
		{0, 0, 0},
		{0, 3 * time.Second, 0},
		{time.Second, 3 * time.Second, 0},
		{5 * time.Second, 3 * time.Second, 3500 * time.Millisecond},
		{-5 * time.Second, 3 * time.Second, -3500 * time.Millisecond},
		{time.Hour, 2 * time.Millisecond, time.Hour - time.Millisecond},
	} {
		local := clocktest.NewManual(start)
		clock := storeclock.New(local, &distantStore{local: local, skew: c.skew, trip: c.trip})
		require.NoError(t, clock.Measure(t.Context()))
		require.Equal(t, c.want, clock.Offset(), "%+v", c)
	}
}

// Engine rule 13: a node's wall clock decides nothing where the store has one.
func TestAStepOfTheWallClockChangesNothing(t *testing.T) {
	local := clocktest.NewManual(start)
	c := storeclock.New(local, &distantStore{local: local, skew: time.Hour})
	require.NoError(t, c.Measure(t.Context()))
	for _, step := range []time.Duration{time.Hour, -2 * time.Hour} {
		before := c.Now()
		local.Jump(step)
		require.Equal(t, before, c.Now())
		local.Advance(time.Second)
		require.Equal(t, before.Add(time.Second), c.Now(), "time that passes does")
	}
}

// SQLite has no clock but the machine's.
func TestWithoutAClockOfTheStoreTheMachinesCounts(t *testing.T) {
	local := clocktest.NewManual(start)
	c := storeclock.New(local, nil)
	require.NoError(t, c.Measure(t.Context()))
	local.Jump(time.Hour)
	require.Equal(t, local.Now(), c.Now())
	require.Zero(t, c.Offset())
}

func TestASlowAnswerTakesNothingAway(t *testing.T) {
	local := clocktest.NewManual(start)
	store := &distantStore{local: local, skew: time.Minute, trip: 2 * time.Millisecond}
	c := storeclock.New(local, store)
	require.NoError(t, c.Measure(t.Context()))
	truth := func() time.Time { return local.Now().Add(time.Minute) }
	require.WithinDuration(t, truth(), c.Now(), time.Millisecond)
	store.trip = 3 * time.Second
	require.NoError(t, c.Measure(t.Context()))
	require.WithinDuration(t, truth(), c.Now(), 4*time.Millisecond, "but for the drift of two clocks in three seconds")
	require.False(t, c.Now().After(truth()))
}

// An old measurement bounds little: the clocks may have parted.
func TestAMeasurementGrowsOld(t *testing.T) {
	local := clocktest.NewManual(start)
	store := &distantStore{local: local, trip: 2 * time.Millisecond}
	c := storeclock.New(local, store)
	require.NoError(t, c.Measure(t.Context()))
	local.Advance(1000 * time.Second)
	store.skew = -300 * time.Millisecond // 300 parts of a million
	require.NoError(t, c.Measure(t.Context()))
	require.False(t, c.Now().After(local.Now().Add(store.skew)), "never ahead")
	require.WithinDuration(t, local.Now().Add(store.skew), c.Now(), 2*time.Millisecond)
}

// A fail-over, or a clock of the store that was set: only the new one counts.
func TestAStoreWithAnotherTimeIsBelieved(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		local := clocktest.NewManual(start)
		store := &distantStore{local: local, trip: 2 * time.Millisecond}
		c := storeclock.New(local, store)
		require.NoError(t, c.Measure(t.Context()))
		store.skew = step
		require.NoError(t, c.Measure(t.Context()))
		require.WithinDuration(t, local.Now().Add(step), c.Now(), 2*time.Millisecond)
	}
}

func TestJumpedTellsAJumpFromTimeThatPassed(t *testing.T) {
	local := clocktest.NewManual(start)
	c := storeclock.New(local, &distantStore{local: local})
	local.Advance(time.Hour)
	require.Zero(t, c.Jumped(), "time passed on both clocks")
	local.Jump(-time.Hour)
	require.Equal(t, -time.Hour, c.Jumped())
	require.Zero(t, c.Jumped(), "a jump is told once")
	local.Jump(time.Second)
	require.Zero(t, c.Jumped(), "a small correction is no event")
}
