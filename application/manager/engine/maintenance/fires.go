package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// oldFire is the age from which the sweep counts an in-flight fire anew: shorter fires end by themselves.
	oldFire = time.Minute
	// runlessFire is the age from which the sweep looks at a fire without a live run: it holds a slot of its job for
	// nothing.
	runlessFire = 5 * time.Second
)

// sweepFires gives up in-flight fires without a live run, and counts fires anew that have fewer live runs than they say
// (engine rule 16). An early look is harmless: the transaction looks again, under the job's lock.
func (r *Repairer) sweepFires(ctx context.Context) (int, error) {
	now := r.StoreClock.Now()
	fires, err := r.Plans.InFlightFires(ctx, r.swept.fire, now.Add(-runlessFire), sweepLimit)
	if err != nil {
		return 0, err
	}
	next := entity.InFlightFire{}
	if len(fires) == sweepLimit {
		next = fires[len(fires)-1]
	}
	var old, young []entity.InFlightFire
	for _, f := range fires {
		if f.CreateTime.Before(now.Add(-oldFire)) {
			old = append(old, f)
		} else if f.Active { // one that waits holds no slot
			young = append(young, f)
		}
	}
	runless, err := r.Plans.RunlessFires(ctx, young)
	if err != nil {
		return 0, err
	}
	r.swept.fire = next
	touched := 0
	var errs []error
	recount := func(f entity.InFlightFire) error {
		_, err := r.write(ctx, func(ctx context.Context, tx repository.Tx, effect *commit.PostCommit) (err error) {
			*effect, err = r.Admitter.Recount(ctx, tx, r.StoreClock.Now(), f)
			return err
		})
		touched++
		return err
	}
	for i, f := range append(runless, old...) {
		rows, err := 0, error(nil)
		if i >= len(runless) {
			rows, err = r.Plans.CountExecutionsOf(ctx, f)
		}
		if err == nil && rows < f.Remaining {
			err = recount(f)
		}
		if err == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("look after the fire %s of job %s: %w", f.FireKey, f.JobID, err))
		if endsSweep(err) {
			break
		}
	}
	return touched, errors.Join(errs...)
}
