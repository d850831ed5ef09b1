// Package batch keeps one bad row from holding up the many it travels with.
package batch

import (
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Bisect runs do over items. When the store refuses a row for good
// (*repository.PoisonError) the items are halved until the offender is alone,
// and offender is called for it; everything else goes on (engine rule 10). Any
// other error ends the walk and is returned. For n items and one offender do
// runs at most 2·log2(n)+1 times. Order is kept.
func Bisect[T any](items []T, do func([]T) error, offender func(T, error) error) error {
	if len(items) == 0 {
		return nil
	}
	err := do(items)
	var poison *repository.PoisonError
	if err == nil || !errors.As(err, &poison) {
		return err
	}
	if len(items) == 1 {
		return offender(items[0], err)
	}
	half := len(items) / 2
	if err := Bisect(items[:half], do, offender); err != nil {
		return err
	}
	return Bisect(items[half:], do, offender)
}
