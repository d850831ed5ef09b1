package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// edit is a change of one job.
type edit struct {
	// what names the transaction and the event.
	what string
	// groups are those by which the edit may bind the job, or no longer; nil is
	// none.
	groups func(old *entity.Job) []string
	// spanGoesOn: what is paused stays so, and nothing of its span is recorded.
	spanGoesOn bool
	// reschedules reports whether the edit ends the present schedule; nil is no. The times that it has named are
	// then decided before apply.
	reschedules func(old *entity.Job) bool
	// catchUpUntil returns until when the old definition decides what is due; nil means
	// now.
	catchUpUntil func(old *entity.Job, now time.Time) time.Time
	// apply computes the new state of the locked job, after the catch-up. terms are
	// those of its former group.
	apply func(ctx context.Context, tx repository.Tx, old *entity.Job, terms repository.GroupTerms,
		now time.Time) (*entity.Job, error)
}

// change is the frame of every edit: lock, catch up, edit, store, announce. More due
// fires, or more runs to move, than one transaction takes come first, in their own
// transactions. When the time of the call ends meanwhile, these stay done, and the
// caller may repeat the call.
func (s *JobService) change(ctx context.Context, id string, e edit) (*entity.Job, error) {
	limit := admission.MoveLimit
	for {
		changed, err := s.tryChange(ctx, id, e, limit)
		switch {
		case err == nil:
			return changed, nil
		case errors.Is(err, errMoreDue):
			err = s.catchUpChunk(ctx, id)
		case errors.Is(err, admission.ErrManyRuns):
			err = s.rehome(ctx, changed)
			limit = math.MaxInt // what is left has begun, or came meanwhile
		}
		if err != nil {
			return nil, err
		}
	}
}

// errMoreDue ends a change that needs another catch-up first.
var errMoreDue = errors.New("more fires are due than one transaction records")

// readable refuses what would make something of a job of which not all is known.
func readable(job *entity.Job) error {
	if why := job.Unreadable(); why != "" {
		return apperror.Conflict("unreadable",
			"what the store holds of the job cannot be read (%s): put a whole definition in its place, or delete it", why)
	}
	return nil
}

// catchUpChunk records as many due fires of a job as one transaction takes.
func (s *JobService) catchUpChunk(ctx context.Context, id string) error {
	var effect commit.PostCommit
	err := s.Store.Write(ctx, repository.LaneAPI, "job.settle", func(ctx context.Context, tx repository.Tx) error {
		job, err := tx.Jobs.LockFull(ctx, id)
		if err != nil {
			return err
		}
		if err := admission.LockGroups(ctx, tx, []*entity.Job{job}); err != nil {
			return err
		}
		terms, err := tx.Groups.Terms(ctx, job.Group)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if effect, _, err = s.settler.CatchUp(ctx, tx, job, plannedUntil(job, terms, now), now); err != nil {
			return err
		}
		advance := repository.AdvanceOf(job, job.LastFireTime)
		advance.DecidedUntil = job.DecidedUntil
		if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{advance}); err != nil {
			return err
		}
		return s.Admitter.FillGroupSlotsOf(ctx, tx, now, &effect, job)
	})
	if err != nil {
		return fmt.Errorf("record what is due before the edit: %w", err)
	}
	s.Engine.AfterCommit(effect)
	return nil
}

// catchUp brings a locked job up to a moment. It adopts the terms of the group, and then
// records what is due. That includes the span of a pause, unless the pause goes on. It
// changes the job in memory. more is true when it did not record all.
func (s *JobService) catchUp(ctx context.Context, tx repository.Tx, job *entity.Job, terms repository.GroupTerms, at,
	now time.Time, spanGoesOn bool,
) (effect commit.PostCommit, more bool, err error) {
	if outOfSync(job, terms) {
		if effect, more, err = s.adoptTerms(ctx, tx, job, terms, now); err != nil || more {
			return effect, more, err
		}
	}
	if job.Status == entity.JobPaused && spanGoesOn {
		return effect, false, nil
	}
	rest, more, err := s.settler.CatchUp(ctx, tx, job, at, now)
	effect.Add(rest)
	return effect, more, err
}

// tryChange is one try of change. It moves at most limit live runs: with
// admission.ErrManyRuns nothing is done, and it returns what the job was to
// become.
func (s *JobService) tryChange(ctx context.Context, id string, e edit, limit int) (*entity.Job, error) {
	var changed *entity.Job
	var effect commit.PostCommit
	queued := false
	err := s.Store.Write(ctx, repository.LaneAPI, e.what, func(ctx context.Context, tx repository.Tx) error {
		old, err := tx.Jobs.LockFull(ctx, id)
		if err != nil {
			return err
		}
		var binding []string
		if e.groups != nil {
			binding = e.groups(old)
		}
		if err := admission.LockGroups(ctx, tx, []*entity.Job{old}, binding...); err != nil {
			return err
		}
		terms, err := tx.Groups.Terms(ctx, old.Group)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		at := now
		if e.catchUpUntil != nil {
			at = e.catchUpUntil(old, now)
		}
		var more bool
		if effect, more, err = s.catchUp(ctx, tx, old, terms, at, now, e.spanGoesOn); err != nil {
			return err
		}
		if e.reschedules != nil && e.reschedules(old) {
			if more {
				return errMoreDue
			}
			left, err := s.settler.Abandon(ctx, tx, old, entity.ReasonMisfire, now)
			if err != nil {
				return err
			}
			effect.Add(left)
		}
		next, err := e.apply(ctx, tx, old, terms, now)
		if err != nil {
			return err
		}
		// A pause keeps the cursor: what is not decided is part of its span.
		if more && next.Status != entity.JobPaused {
			return errMoreDue
		}
		next.Version, next.UpdateTime = old.Version+1, now
		if next.Group != old.Group || next.Limited != old.Limited {
			changed = next
			if err := s.Admitter.MoveToGroup(ctx, tx, now, next, limit, &effect); err != nil {
				return err
			}
		}
		if err := tx.Jobs.Update(ctx, next, false); err != nil {
			return err
		}
		if err := s.registerNext(ctx, tx, old, next); err != nil {
			return err
		}
		if err := s.Admitter.FillGroupSlotsOf(ctx, tx, now, &effect, old); err != nil {
			return err
		}
		if queued, err = s.fillSlots(ctx, tx, next, now, &effect); err != nil {
			return err
		}
		changed = next
		return s.addJobEvent(ctx, tx, next, e.what)
	})
	if err != nil {
		return changed, err
	}
	s.Engine.JobChanged(changed)
	s.Engine.AfterCommit(effect)
	if queued {
		s.moveQueue(ctx, id)
	}
	return changed, nil
}

// fillSlots lets queued fires start where the edit made room, and re-arms an
// idle FIXED_DELAY job. more says that the queue is not done with.
func (s *JobService) fillSlots(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time,
	effect *commit.PostCommit,
) (more bool, err error) {
	promoted, more, err := s.Admitter.Promote(ctx, tx, now, job)
	if err != nil {
		return false, err
	}
	effect.Add(promoted)
	return more, s.Admitter.ArmIfIdle(ctx, tx, job, now, effect)
}
