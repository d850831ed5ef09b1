// Package batch keeps one bad row from holding up its batch, and a bad answer of the whole store from counting against
// a row.
package batch

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Walk runs do over items. When that fails for a reason that lasts, or panics
// (*PanicError), the items are halved until the offender is alone, and offender
// is called for it; everything else goes on (engine rule 10). An error or a
// panic of offender is returned with those of others at the end of the walk. An
// error that passes (Passes) ends the walk, because all that follows would meet it.
//
// An unknown answer of the store (*repository.UnknownError) may be about the whole store. It counts against a row only
// if the store took another row of the same walk and then refused this row again. Without such a witness Walk holds all
// items. It returns an apperror of KindUnavailable, so that the caller tries the same items again later (HeldPause) and
// moves no cursor. blame, which may be nil, names by its key a row that has failed alone for long enough. Any other
// error must meet a row twice.
//
// For n items and one offender do runs at most 2·log2(n)+3 times, and without a witness at most
// 2·log2(n)+2·maxUnwitnessed times. Walk keeps the order, but rows that it tries again come after the others.
func Walk[T any](blame *Blame, items []T, key func(T) string, do func([]T) error, offender func(T, error) error,
) error {
	if len(items) == 0 {
		return nil
	}
	w := walk[T]{blame: blame, key: key, do: do, offender: offender}
	err := w.part(items, 1)
	if err != nil && Passes(err) {
		return err
	}
	return errors.Join(err, w.decide())
}

const (
	// maxUnwitnessed is how many rows a walk tries alone in search of one that the
	// store takes.
	maxUnwitnessed = 8
	// retrials is how often a row must fail again after another was stored. A store in
	// trouble may take one transaction and refuse the next.
	retrials = 2
)

type walk[T any] struct {
	blame    *Blame
	key      func(T) string
	do       func([]T) error
	offender func(T, error) error
	// stored: some items were, so that the store works.
	stored bool
	// suspects met, alone, an unknown answer.
	suspects []suspect[T]
}

type suspect[T any] struct {
	item T
	err  error
}

// part walks over items that meet a try for so many times now.
func (w *walk[T]) part(items []T, times int) error {
	err := w.try(items)
	var unknown *repository.UnknownError
	switch {
	case err == nil || Passes(err):
		return err
	case len(items) == 1 && errors.As(err, &unknown):
		w.suspects = append(w.suspects, suspect[T]{items[0], err})
		return nil
	case len(items) == 1 && times == 1 && !own(err):
		return w.part(items, 2)
	case len(items) == 1:
		return Guard(func() error { return w.offender(items[0], err) })
	}
	half := len(items) / 2
	first := w.part(items[:half], 2)
	if first != nil && Passes(first) || !w.stored && len(w.suspects) >= maxUnwitnessed {
		return first
	}
	return errors.Join(first, w.part(items[half:], 2))
}

func (w *walk[T]) try(items []T) error {
	err := Guard(func() error { return w.do(items) })
	if err == nil {
		w.stored = true
		if w.key != nil {
			w.blame.acquit(len(items), func(i int) string { return w.key(items[i]) })
		}
	}
	return err
}

// decide decides about the suspects.
func (w *walk[T]) decide() error {
	var errs []error
	var held error
	witness := w.stored
	for _, s := range w.suspects {
		err := s.err
		for i := 0; witness && i < retrials && err != nil; i++ {
			if err = w.try([]T{s.item}); err != nil && Passes(err) {
				return errors.Join(append(errs, err)...)
			}
		}
		if err == nil {
			continue
		}
		if !witness && (w.key == nil || !w.blame.Lasts(w.key(s.item))) {
			if held == nil {
				held = apperror.Unavailable(err)
			}
			continue
		}
		err = Guard(func() error { return w.offender(s.item, err) })
		if errs = append(errs, err); err != nil && Passes(err) {
			break
		}
	}
	return errors.Join(append(errs, held)...)
}

// Passes reports that an error says nothing of the rows: the store is away, has not answered, or has given an answer
// that counts against no row yet. Or somebody else has locked a row, or the caller's time is over.
func Passes(err error) bool {
	return apperror.Is(err, apperror.KindUnavailable) || errors.Is(err, repository.ErrCommitUnknown) ||
		errors.Is(err, repository.ErrLocked) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// own reports that an error says by itself that the row is to blame: the store refuses
// its values, its id is there already, or it makes the program panic.
func own(err error) bool {
	var poison *repository.PoisonError
	var panicked *PanicError
	return errors.As(err, &poison) || errors.As(err, &panicked) || errors.Is(err, repository.ErrDuplicateID)
}
