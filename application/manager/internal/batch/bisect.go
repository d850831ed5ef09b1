// Package batch keeps one bad row from holding up the many it travels with.
package batch

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Bisect runs do over items. When it fails for a reason that lasts, or panics
// (*PanicError), the items are halved until the offender is alone, and offender
// is called for it; everything else goes on (engine rule 10). An error or a
// panic of offender is returned with those of others at the end of the walk. An
// error that passes ends the walk, because all that follows would meet it. For n
// items and one offender do runs at most 2·log2(n)+1 times. Order is kept.
func Bisect[T any](items []T, do func([]T) error, offender func(T, error) error) error {
	if len(items) == 0 {
		return nil
	}
	err := Guard(func() error { return do(items) })
	if err == nil || Passes(err) {
		return err
	}
	if len(items) == 1 {
		return Guard(func() error { return offender(items[0], err) })
	}
	half := len(items) / 2
	first := Bisect(items[:half], do, offender)
	if first != nil && Passes(first) {
		return first
	}
	return errors.Join(first, Bisect(items[half:], do, offender))
}

// Passes reports that an error says nothing of the rows: the store cannot be
// reached, has not answered, somebody else has locked a row, or the caller's
// time is over.
func Passes(err error) bool {
	return apperror.Is(err, apperror.KindUnavailable) || errors.Is(err, repository.ErrCommitUnknown) ||
		errors.Is(err, repository.ErrLocked) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
