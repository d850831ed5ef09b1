package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errRefused = errors.New("value too long")

// bisect is batch.Walk without a memory: without a witness, no row is to blame for an unknown answer of the store.
func bisect[T any](items []T, do func([]T) error, offender func(T, error) error) error {
	return batch.Walk(nil, items, nil, do, offender)
}

// store applies batches of numbers and refuses those that hold a bad one.
type store struct {
	bad     map[int]bool
	applied []int
	calls   int
}

func (s *store) apply(items []int) error {
	s.calls++
	for _, n := range items {
		if s.bad[n] {
			return &repository.PoisonError{Err: errRefused}
		}
	}
	s.applied = append(s.applied, items...)
	return nil
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestOneOffenderAmongFiveHundredGoesAlone(t *testing.T) {
	s := &store{bad: map[int]bool{317: true}}
	var offenders []int
	err := bisect(numbers(500), s.apply, func(n int, err error) error {
		require.ErrorIs(t, err, errRefused)
		offenders = append(offenders, n)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int{317}, offenders)
	require.Len(t, s.applied, 499)
	require.LessOrEqual(t, s.calls, 2*9+1)
}

// An error that says nothing of the rows ends the walk at once.
func TestErrorsThatPassEndTheWalk(t *testing.T) {
	for _, passing := range []error{
		apperror.Unavailable(errors.New("the store is away")), fmt.Errorf("commit: %w", repository.ErrCommitUnknown),
		context.Canceled, context.DeadlineExceeded,
	} {
		calls := 0
		err := bisect(numbers(4), func([]int) error { calls++; return passing }, func(int, error) error {
			t.Fatal("no row is to blame")
			return nil
		})
		require.ErrorIs(t, err, passing)
		require.Equal(t, 1, calls)
	}
}

// An offender is found whatever it is that fails for good, and one that cannot
// be helped does not hold up those behind it.
func TestAnyErrorThatLastsIsTracedToItsRow(t *testing.T) {
	broken, helpless := errors.New("a schedule does not compile"), errors.New("cannot be helped")
	var applied []int
	err := bisect(numbers(8), func(items []int) error {
		if slices.Contains(items, 2) || slices.Contains(items, 5) {
			return broken
		}
		applied = append(applied, items...)
		return nil
	}, func(n int, err error) error {
		require.ErrorIs(t, err, broken)
		return fmt.Errorf("row %d: %w", n, helpless)
	})
	require.ErrorIs(t, err, helpless)
	require.ErrorContains(t, err, "row 2")
	require.ErrorContains(t, err, "row 5")
	require.Equal(t, []int{0, 1, 3, 4, 6, 7}, applied)
}

// An offender that meets an outage ends the walk, too.
func TestAnOutageWhileAnOffenderIsHelpedEndsTheWalk(t *testing.T) {
	calls := 0
	err := bisect(numbers(2), func([]int) error { calls++; return errRefused }, func(int, error) error {
		return apperror.Unavailable(errors.New("away"))
	})
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.Equal(t, 2, calls)
}

func TestAPanicIsTracedToItsItem(t *testing.T) {
	var applied, offenders []int
	err := bisect(numbers(100), func(items []int) error {
		for _, n := range items {
			if n == 42 {
				panic("a schedule that panics")
			}
		}
		applied = append(applied, items...)
		return nil
	}, func(n int, err error) error {
		var panicked *batch.PanicError
		require.ErrorAs(t, err, &panicked)
		require.EqualError(t, err, "panic: a schedule that panics")
		require.Contains(t, string(panicked.Stack), "TestAPanicIsTracedToItsItem")
		offenders = append(offenders, n)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int{42}, offenders)
	require.Len(t, applied, 99)
}

func TestAPanicOfTheOffendersHandlerIsAnError(t *testing.T) {
	err := bisect([]int{1}, func([]int) error { return &repository.PoisonError{Err: errRefused} },
		func(int, error) error { panic("again") })
	require.EqualError(t, err, "panic: again")
}

func TestGuardPassesErrorsOn(t *testing.T) {
	require.NoError(t, batch.Guard(func() error { return nil }))
	require.ErrorIs(t, batch.Guard(func() error { return errRefused }), errRefused)
}

func TestEveryItemIsAppliedOrNamedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		checkBisect(t, n, rapid.SliceOf(rapid.IntRange(0, 199)).Draw(t, "bad"))
	})
}

func FuzzBisect(f *testing.F) {
	f.Add(10, []byte{3})
	f.Add(1, []byte{0})
	f.Add(500, []byte{0, 1, 2, 255})
	f.Fuzz(func(t *testing.T, n int, bad []byte) {
		if n < 0 || n > 600 {
			return
		}
		var list []int
		for _, b := range bad {
			list = append(list, int(b))
		}
		checkBisect(t, n, list)
	})
}

func checkBisect(t require.TestingT, n int, badList []int) {
	s := &store{bad: map[int]bool{}}
	for _, b := range badList {
		s.bad[b] = true
	}
	named := map[int]int{}
	require.NoError(t, bisect(numbers(n), s.apply, func(i int, _ error) error {
		named[i]++
		return nil
	}))
	last := -1
	for _, i := range s.applied {
		require.Greater(t, i, last, "order is kept and nothing is applied twice")
		require.Zero(t, named[i])
		last = i
	}
	require.Equal(t, n, len(s.applied)+len(named))
	for i, times := range named {
		require.Equal(t, 1, times)
		require.True(t, s.bad[i])
	}
}
