package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// makeWait lets scheduled runs whose moment has come wait for a slot in their
// group, but for those that somebody else has locked, or their jobs.
func (r *Repairer) makeWait(ctx context.Context, execs []*entity.Execution, now time.Time) error {
	ids, jobIDs := entity.IDsOf(execs), entity.JobIDsOf(execs)
	slices.Sort(ids)
	var effect commit.PostCommit
	err := r.Store.Write(ctx, repository.LaneComplete, "unpark-limited",
		func(ctx context.Context, tx repository.Tx) error {
			jobs, locked, err := r.Admitter.TryLock(ctx, tx, jobIDs)
			if err != nil {
				return err
			}
			held, err := tx.Executions.TryLock(ctx, ids)
			if err != nil {
				return err
			}
			held = slices.DeleteFunc(held, func(exec *entity.Execution) bool { return slices.Contains(locked, exec.JobID) })
			effect, err = r.Admitter.QueueForGroup(ctx, tx, now, jobs, held)
			return err
		})
	if err != nil {
		return err
	}
	r.Commits.AfterCommit(effect)
	return nil
}

// SweepLimits repairs what a lost transaction could have left of the limits of
// groups: slots whose fire is over, and free slots for which fires wait. A
// slot that cannot be repaired does not hold up the others: the next look goes on behind it.
// It returns how many of either it found, and is never called twice at once.
func (r *Repairer) SweepLimits(ctx context.Context) (int, error) {
	found := 0
	var errs []error
	for _, part := range []func(ctx context.Context) (int, error){r.sweepGroupSlots, r.sweepFreeSlots} {
		n, err := part(ctx)
		found += n
		if errs = append(errs, err); err != nil && endsSweep(err) {
			break
		}
	}
	return found, errors.Join(errs...)
}

// sweepGroupSlots gives up slots whose fire is over.
func (r *Repairer) sweepGroupSlots(ctx context.Context) (int, error) {
	slots, err := r.Plans.LeftoverSlots(ctx, r.sweptSlot, sweepLimit)
	if err != nil {
		return 0, err
	}
	if r.sweptSlot = (entity.GroupSlot{}); len(slots) == sweepLimit {
		r.sweptSlot = slots[len(slots)-1]
	}
	found := 0
	var errs []error
	for _, slot := range slots {
		helped, err := r.write(ctx, func(ctx context.Context, tx repository.Tx, effect *commit.PostCommit) error {
			return r.releaseSlot(ctx, tx, slot, effect)
		})
		if helped {
			found++
		}
		if err == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("give up a slot of the group %s: %w", slot.Group, err))
		if endsSweep(err) {
			break
		}
	}
	return found, errors.Join(errs...)
}

// sweepFreeSlots gives free slots of groups to the fires that wait for them.
func (r *Repairer) sweepFreeSlots(ctx context.Context) (int, error) {
	groups, err := r.Plans.GroupsWithFreeSlots(ctx)
	if err != nil {
		return 0, err
	}
	return each("give slots of the group", groups, func(group string) (bool, error) { return r.fillGroup(ctx, group) })
}

// fillGroup gives the free slots of a group to the fires that wait for them.
func (r *Repairer) fillGroup(ctx context.Context, group string) (helped bool, err error) {
	lo, hi := entity.GroupQueue(group).Range()
	first, err := r.Claims.First(ctx, lo, hi)
	if err != nil || first == "" {
		return false, err
	}
	return r.write(ctx, func(ctx context.Context, tx repository.Tx, effect *commit.PostCommit) error {
		if _, err := r.Admitter.Lock(ctx, tx, nil, group); err != nil {
			return err
		}
		return r.Admitter.FillGroupSlots(ctx, tx, r.StoreClock.Now(), effect, group)
	})
}

// releaseSlot gives up the slot of a fire that is over, unless it is not.
func (r *Repairer) releaseSlot(ctx context.Context, tx repository.Tx, slot entity.GroupSlot,
	effect *commit.PostCommit,
) error {
	jobs, err := r.Admitter.Lock(ctx, tx, []string{slot.JobID}, slot.Group)
	if err != nil {
		return err
	}
	execs, err := tx.InFlightFires.ExecutionsOf(ctx, entity.InFlightFire{
		JobID: slot.JobID, FireKey: slot.FireKey,
		Active: true, Remaining: 1,
	})
	if err != nil || len(execs) > 0 {
		return err
	}
	fire := []entity.InFlightFire{{JobID: slot.JobID, FireKey: slot.FireKey}}
	if err := tx.Groups.Release(ctx, fire); err != nil {
		return err
	}
	if err := tx.InFlightFires.Delete(ctx, fire); err != nil {
		return err
	}
	now := r.StoreClock.Now()
	if job := jobs[slot.JobID]; job != nil {
		promoted, _, err := r.Admitter.Promote(ctx, tx, now, job)
		if err != nil {
			return err
		}
		effect.Add(promoted)
	}
	return r.Admitter.FillGroupSlots(ctx, tx, now, effect, slot.Group)
}
