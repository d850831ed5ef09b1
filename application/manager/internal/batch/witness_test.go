package batch_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errUnknown = &repository.UnknownError{Err: errors.New("error 4242: nobody knows")}

// noOffender is a handler that must not be called.
func noOffender(t *testing.T) func(int, error) error {
	return func(n int, err error) error {
		t.Errorf("row %d is blamed for %v", n, err)
		return nil
	}
}

// An error that meets each row of a batch says nothing of any of them.
func TestAnErrorThatNobodyKnowsNeedsAWitness(t *testing.T) {
	for _, n := range []int{1, 2, 7, 500} {
		calls := 0
		err := bisect(numbers(n), func([]int) error { calls++; return errUnknown }, noOffender(t))
		require.ErrorIs(t, err, errUnknown)
		require.True(t, apperror.Is(err, apperror.KindUnavailable), "the caller holds the batch")
		require.True(t, batch.Passes(err))
		require.LessOrEqual(t, calls, 2*9+2*8, "a batch that is held costs few tries")
	}
}

// The trouble of a store may begin and end at any of the tries of a walk.
func TestAnErrorOfTheStoreBlamesNobodyWhenItEndsWithinTheWalk(t *testing.T) {
	const n = 8
	for length := range 30 {
		tries, stored := 0, map[int]bool{}
		do := func(items []int) error {
			if tries++; tries <= length {
				return errUnknown
			}
			for _, i := range items {
				require.False(t, stored[i], "row %d is stored twice", i)
				stored[i] = true
			}
			return nil
		}
		for walks := 0; len(stored) < n; walks++ {
			require.Less(t, walks, 30)
			left := slices.DeleteFunc(numbers(n), func(i int) bool { return stored[i] })
			if err := bisect(left, do, noOffender(t)); err != nil {
				require.True(t, batch.Passes(err))
			}
		}
	}
}

// Only the row that always fails is to blame, wherever it stands.
func TestTheRowThatFailsBesideOthersIsToBlame(t *testing.T) {
	for bad := range 9 {
		var applied, blamed []int
		err := bisect(numbers(9), func(items []int) error {
			if slices.Contains(items, bad) {
				return errUnknown
			}
			applied = append(applied, items...)
			return nil
		}, func(n int, err error) error {
			require.ErrorIs(t, err, errUnknown)
			blamed = append(blamed, n)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []int{bad}, blamed)
		require.Len(t, applied, 8)
	}
}

// A row that is always alone has no witness. It is to blame after 5 failures over
// 30 s in which the node reached the store, and not before.
func TestALoneRowIsToBlameAfterAWhile(t *testing.T) {
	clock := clocktest.NewManual(time.Unix(0, 0))
	beating := true
	blame := batch.NewBlame(clock, func() bool { return beating })
	blamed := 0
	try := func(err error) error {
		return batch.Walk(blame, []int{7}, strconv.Itoa, func([]int) error { return err }, func(int, error) error {
			blamed++
			return errors.New("cannot be helped")
		})
	}
	failAfter := func(times int, pause time.Duration) {
		for range times {
			clock.Advance(pause)
			require.Error(t, try(errUnknown))
		}
	}
	failAfter(100, 100*time.Millisecond)
	require.Zero(t, blamed, "often, but not for long")
	require.NoError(t, try(nil))
	failAfter(4, 20*time.Second)
	require.Zero(t, blamed, "for long, but not often; what was before its success does not count")
	beating = false
	failAfter(5, 10*time.Second)
	require.Zero(t, blamed, "the store was away")
	beating = true
	failAfter(4, 10*time.Second)
	require.Zero(t, blamed)
	failAfter(1, time.Second)
	require.Equal(t, 1, blamed)
	failAfter(1, time.Second)
	require.Equal(t, 2, blamed, "it stays to blame until it is stored")
	clock.Advance(2 * time.Hour)
	failAfter(1, 0)
	require.Equal(t, 2, blamed, "what was long ago is forgotten")
}

// Many bad rows at the head of a batch hold up the others for a time, not for ever.
func TestManyBadRowsAtTheHeadOfABatchEndInBlame(t *testing.T) {
	clock := clocktest.NewManual(time.Unix(0, 0))
	blame := batch.NewBlame(clock, nil)
	left, blamed := numbers(64), map[int]bool{}
	for walks := 0; len(left) > 0; walks++ {
		require.Less(t, walks, 200)
		clock.Advance(2 * time.Second)
		err := batch.Walk(blame, left, strconv.Itoa, func(items []int) error {
			if items[0] < 40 {
				return errUnknown
			}
			left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(items, i) })
			return nil
		}, func(n int, _ error) error {
			blamed[n] = true
			left = slices.DeleteFunc(slices.Clone(left), func(i int) bool { return i == n })
			return nil
		})
		require.True(t, err == nil || batch.Passes(err))
	}
	require.Len(t, blamed, 40)
}

func TestTheWaitsOfAHeldBatch(t *testing.T) {
	require.Equal(t, 100*time.Millisecond, batch.HeldPause(1))
	require.Equal(t, 200*time.Millisecond, batch.HeldPause(2))
	require.Equal(t, 2*time.Second, batch.HeldPause(6))
	require.Equal(t, 2*time.Second, batch.HeldPause(1000))
}

// An error of the program must meet a row twice; a refusal of its values by the store counts at once.
func TestALoneRowIsTriedTwice(t *testing.T) {
	for _, c := range []struct {
		err    error
		blamed bool
		calls  int
	}{
		{errRefused, false, 2}, {&repository.PoisonError{Err: errRefused}, true, 1},
	} {
		calls, blamed := 0, false
		require.NoError(t, bisect([]int{1}, func([]int) error {
			if calls++; calls > 1 {
				return nil
			}
			return c.err
		}, func(int, error) error {
			blamed = true
			return nil
		}))
		require.Equal(t, c.blamed, blamed)
		require.Equal(t, c.calls, calls)
	}
}
