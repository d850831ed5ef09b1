package timingwheel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/timingwheel"
)

var start = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

func newWheel() *timingwheel.Wheel[string] { return timingwheel.New[string](time.Millisecond, start) }

func after(d time.Duration) time.Time { return start.Add(d) }

func TestEntriesExpireInDueOrderAndNeverEarly(t *testing.T) {
	t.Parallel()
	w := newWheel()
	spans := []time.Duration{
		time.Millisecond, 63 * time.Millisecond, 64 * time.Millisecond, 65 * time.Millisecond, time.Second,
		4095 * time.Millisecond, 4096 * time.Millisecond, time.Hour, 24 * time.Hour, 366 * 24 * time.Hour,
	}
	for i := range spans {
		d := spans[len(spans)-1-i]
		w.Add(d.String(), after(d), d.String())
	}
	for _, d := range spans {
		require.Empty(t, w.Expire(after(d-1), nil), "before %s", d)
		require.Equal(t, []string{d.String()}, w.Expire(after(d), nil))
	}
	require.Zero(t, w.Len())
}

func TestOneExpireReturnsAllThatIsDueInOrder(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Add("c", after(3*time.Hour), "c")
	w.Add("a", after(time.Millisecond), "a")
	w.Add("b", after(2*time.Second), "b")
	w.Add("b2", after(2*time.Second), "b2")
	w.Add("later", after(4*time.Hour), "later")
	require.Equal(t, []string{"first", "a", "b", "b2", "c"}, w.Expire(after(3*time.Hour), []string{"first"}))
	require.Equal(t, 1, w.Len())
}

func TestEntryBetweenTwoTicksWaitsForTheSecond(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Add("a", after(1500*time.Microsecond), "a")
	require.Empty(t, w.Expire(after(1900*time.Microsecond), nil))
	require.Equal(t, []string{"a"}, w.Expire(after(2*time.Millisecond), nil))
}

func TestEntryOfThePastExpiresAtOnceInOrder(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Add("b", after(-time.Second), "b")
	w.Add("now", start, "now")
	w.Add("a", after(-time.Hour), "a")
	w.Add("zero", time.Time{}, "zero")
	next, ok := w.NextExpiry()
	require.True(t, ok)
	require.False(t, next.After(start))
	require.Equal(t, []string{"zero", "a", "b", "now"}, w.Expire(start, nil))
}

func TestAddReplacesTheEntryOfAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		from, to time.Duration
	}{
		{"later", time.Second, time.Hour},
		{"earlier", time.Hour, time.Second},
		{"same", time.Second, time.Second},
		{"into the past", time.Hour, -time.Second},
		{"out of the past", -time.Second, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWheel()
			w.Add("k", after(c.from), "old")
			w.Add("k", after(c.to), "new")
			require.Equal(t, 1, w.Len())
			require.Equal(t, []string{"new"}, w.Expire(after(2*time.Hour), nil))
		})
	}
}

func TestRemovedEntriesDoNotExpire(t *testing.T) {
	t.Parallel()
	w := newWheel()
	for i := range 10 {
		w.Add(fmt.Sprint("past", i), after(-time.Duration(i)*time.Second), fmt.Sprint("past", i))
		w.Add(fmt.Sprint("next", i), after(time.Second), fmt.Sprint("next", i))
	}
	for _, i := range []int{0, 4, 9} {
		require.True(t, w.Remove(fmt.Sprint("past", i)))
		require.True(t, w.Remove(fmt.Sprint("next", i)))
		require.False(t, w.Remove(fmt.Sprint("next", i)))
	}
	require.Equal(t, 14, w.Len())
	require.Equal(t, []string{
		"past8", "past7", "past6", "past5", "past3", "past2", "past1",
		"next1", "next2", "next3", "next5", "next6", "next7", "next8",
	}, w.Expire(after(time.Second), nil))
	_, ok := w.NextExpiry()
	require.False(t, ok)
}

func TestClearKeepsTheTime(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Expire(after(time.Minute), nil)
	w.Add("a", after(time.Hour), "a")
	w.Add("b", start, "b")
	w.Clear()
	require.Zero(t, w.Len())
	require.Empty(t, w.Expire(after(2*time.Hour), nil))
	w.Add("c", after(3*time.Hour), "c")
	require.Equal(t, []string{"c"}, w.Expire(after(3*time.Hour), nil))
}

// The wall clock may be set back: what was added for the time that comes again
// must wait for it, and what was there already must not be lost.
func TestClockThatGoesBack(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Add("kept", after(2*time.Hour), "kept")
	require.Empty(t, w.Expire(after(time.Hour), nil))
	require.Empty(t, w.Expire(start, nil))

	w.Add("again", after(time.Minute), "again")
	require.Empty(t, w.Expire(after(59*time.Second), nil), "not early by the earlier clock")
	next, ok := w.NextExpiry()
	require.True(t, ok)
	require.Equal(t, after(time.Minute), next)
	require.Equal(t, []string{"again"}, w.Expire(after(time.Minute), nil))
	require.Equal(t, []string{"kept"}, w.Expire(after(2*time.Hour), nil))
}

func TestJumpOfYearsIsNotWalkedTickByTick(t *testing.T) {
	w := newWheel()
	for i := range 100 {
		w.Add(fmt.Sprint(i), after(time.Duration(i)*24*time.Hour), fmt.Sprint(i))
	}
	// 200 years are 6·10^12 ticks: to walk them takes hours.
	require.Len(t, w.Expire(start.AddDate(200, 0, 0), nil), 100)
}

func TestTimesOutsideTheRangeOfTicks(t *testing.T) {
	t.Parallel()
	w := newWheel()
	w.Add("far", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), "far")
	require.Empty(t, w.Expire(start.AddDate(200, 0, 0), nil))
	next, ok := w.NextExpiry()
	require.True(t, ok)
	require.Equal(t, 2262, next.Year())
	require.Equal(t, []string{"far"}, w.Expire(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil))
}

func TestOwnerThatSleepsUntilNextExpiryMissesNothing(t *testing.T) {
	t.Parallel()
	w := newWheel()
	for i := range 500 {
		d := time.Duration(i*i*i) * 7 * time.Millisecond
		w.Add(fmt.Sprint(i), after(d), fmt.Sprint(i))
	}
	var got []string
	wakeups := 0
	for next, ok := w.NextExpiry(); ok; next, ok = w.NextExpiry() {
		before := len(got)
		got = w.Expire(next, got)
		require.Greater(t, len(got), before, "a wake-up without an entry at %s", next)
		wakeups++
	}
	require.Len(t, got, 500)
	require.LessOrEqual(t, wakeups, 500)
}

func TestNextExpiryIsThatOfTheEarliestEntryWhateverTheOrderOfAdding(t *testing.T) {
	t.Parallel()
	for _, unit := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
		w := newWheel()
		for _, n := range []time.Duration{50, 49, 51, 48} {
			w.Add(fmt.Sprint(n), after(n*unit), fmt.Sprint(n))
		}
		next, ok := w.NextExpiry()
		require.True(t, ok)
		require.Equal(t, after(48*unit), next)
	}
}

func TestOtherTicks(t *testing.T) {
	t.Parallel()
	w := timingwheel.New[int](100*time.Millisecond, start)
	w.Add("a", after(150*time.Millisecond), 1)
	require.Empty(t, w.Expire(after(199*time.Millisecond), nil))
	require.Equal(t, []int{1}, w.Expire(after(200*time.Millisecond), nil))

	w = timingwheel.New[int](0, start)
	w.Add("a", after(timingwheel.DefaultTick), 1)
	require.Equal(t, []int{1}, w.Expire(after(timingwheel.DefaultTick), nil))
}

func TestNodesAreUsedAgain(t *testing.T) {
	w := newWheel()
	var out []string
	round := func() {
		for i := range 100 {
			w.Add(keys[i], start, keys[i])
			w.Add(keys[100+i], after(time.Hour), keys[100+i])
		}
		out = w.Expire(start, out[:0])
		for i := range 100 {
			w.Remove(keys[100+i])
		}
	}
	round()
	require.LessOrEqual(t, testing.AllocsPerRun(50, round), 1.0)
}

var keys = func() []string {
	k := make([]string, 100_000)
	for i := range k {
		k[i] = fmt.Sprintf("0190a5e0-7c00-7000-8000-%012d", i)
	}
	return k
}()

// One op is one entry added to and expired from a wheel of 100,000.
func BenchmarkAddExpire(b *testing.B) {
	w := timingwheel.New[int](time.Millisecond, start)
	now := start
	for i, k := range keys {
		w.Add(k, now.Add(time.Duration(i)*100*time.Microsecond), i)
	}
	out := make([]int, 0, len(keys))
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(out) {
		now, _ = w.NextExpiry()
		out = w.Expire(now, out[:0])
		for _, i := range out {
			w.Add(keys[i], now.Add(10*time.Second), i)
		}
	}
}

// One op is a flood of 100,000 entries due at one instant.
func BenchmarkStampede(b *testing.B) {
	w := timingwheel.New[int](time.Millisecond, start)
	now := start
	out := make([]int, 0, len(keys))
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(10 * time.Second)
		for i, k := range keys {
			w.Add(k, now, i)
		}
		out = w.Expire(now, out[:0])
	}
	require.Len(b, out, len(keys))
}

// One op is a flood of 100,000 entries that are overdue when they are added.
func BenchmarkOverdue(b *testing.B) {
	w := timingwheel.New[int](time.Millisecond, start)
	out := make([]int, 0, len(keys))
	b.ReportAllocs()
	for b.Loop() {
		for i, k := range keys {
			w.Add(k, start.Add(-time.Duration(i%997)*time.Second), i)
		}
		out = w.Expire(start, out[:0])
	}
	require.Len(b, out, len(keys))
}
