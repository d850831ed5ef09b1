package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// makeWait lets delayed runs whose moment has come wait for a place in their
// group, but for those that somebody else has locked, or their jobs.
func (r *Repairer) makeWait(ctx context.Context, execs []*entity.Execution, now time.Time) error {
	ids, jobIDs := make([]string, len(execs)), make([]string, len(execs))
	for i, exec := range execs {
		ids[i], jobIDs[i] = exec.ID, exec.JobID
	}
	slices.Sort(ids)
	var effect admission.PostCommit
	err := r.Store.Write(ctx, repository.LaneComplete, "unpark-limited", func(ctx context.Context, tx repository.Tx) error {
		jobs, locked, err := r.Admitter.TryLock(ctx, tx, jobIDs)
		if err != nil {
			return err
		}
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		held = slices.DeleteFunc(held, func(exec *entity.Execution) bool { return slices.Contains(locked, exec.JobID) })
		effect, err = r.Admitter.Due(ctx, tx, now, jobs, held)
		return err
	})
	if err != nil {
		return err
	}
	r.Commits.AfterCommit(effect)
	return nil
}

// SweepLimits repairs what a lost transaction could have left of the limits of
// groups: places whose fire is over, and free places for which fires wait. What
// cannot be repaired does not hold up the others: the next look goes on behind it.
// It returns how many of either it found, and is never called twice at once.
func (r *Repairer) SweepLimits(ctx context.Context) (int, error) {
	found := 0
	var errs []error
	for _, part := range []func(ctx context.Context) (int, error){r.sweepGroupPlaces, r.sweepRoomyGroups} {
		n, err := part(ctx)
		found += n
		if errs = append(errs, err); err != nil && endsSweep(err) {
			break
		}
	}
	return found, errors.Join(errs...)
}

// sweepGroupPlaces gives up places whose fire is over.
func (r *Repairer) sweepGroupPlaces(ctx context.Context) (int, error) {
	places, err := r.Plans.EmptyPlaces(ctx, r.sweptPlace, sweepLimit)
	if err != nil {
		return 0, err
	}
	if r.sweptPlace = (entity.GroupPlace{}); len(places) == sweepLimit {
		r.sweptPlace = places[len(places)-1]
	}
	found := 0
	var errs []error
	for _, place := range places {
		helped, err := r.mend(ctx, func(ctx context.Context, tx repository.Tx, effect *admission.PostCommit) error {
			return r.empty(ctx, tx, place, effect)
		})
		if helped {
			found++
		}
		if err == nil {
			continue
		}
		errs = append(errs, fmt.Errorf("give up a place of the group %s: %w", place.Group, err))
		if endsSweep(err) {
			break
		}
	}
	return found, errors.Join(errs...)
}

// sweepRoomyGroups gives free places of groups to the fires that wait for them.
func (r *Repairer) sweepRoomyGroups(ctx context.Context) (int, error) {
	groups, err := r.Plans.RoomyGroups(ctx)
	if err != nil {
		return 0, err
	}
	return each("give places of the group", groups, func(group string) (bool, error) { return r.openGroup(ctx, group) })
}

// openGroup gives the free places of a group to the fires that wait for them.
func (r *Repairer) openGroup(ctx context.Context, group string) (helped bool, err error) {
	lo, hi := entity.GroupQueue(group).Range()
	first, err := r.Claims.First(ctx, lo, hi)
	if err != nil || first == "" {
		return false, err
	}
	return r.mend(ctx, func(ctx context.Context, tx repository.Tx, effect *admission.PostCommit) error {
		if _, err := r.Admitter.Lock(ctx, tx, nil, group); err != nil {
			return err
		}
		return r.Admitter.FillGroupSlots(ctx, tx, r.StoreClock.Now(), effect, group)
	})
}

// empty gives up the place of a fire that is over, unless it is not.
func (r *Repairer) empty(ctx context.Context, tx repository.Tx, place entity.GroupPlace, effect *admission.PostCommit) error {
	jobs, err := r.Admitter.Lock(ctx, tx, []string{place.JobID}, place.Group)
	if err != nil {
		return err
	}
	execs, err := tx.InFlightFires.RowsOf(ctx, entity.InFlightFire{JobID: place.JobID, FireKey: place.FireKey, Active: true, Remaining: 1})
	if err != nil || len(execs) > 0 {
		return err
	}
	fire := []entity.InFlightFire{{JobID: place.JobID, FireKey: place.FireKey}}
	if err := tx.Groups.Release(ctx, fire); err != nil {
		return err
	}
	if err := tx.InFlightFires.Delete(ctx, fire); err != nil {
		return err
	}
	now := r.StoreClock.Now()
	if job := jobs[place.JobID]; job != nil {
		promoted, _, err := r.Admitter.Promote(ctx, tx, now, job)
		if err != nil {
			return err
		}
		effect.Add(promoted)
	}
	return r.Admitter.FillGroupSlots(ctx, tx, now, effect, place.Group)
}
