package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Pause stops the planning of a job until the end of the pause, or until a user resumes
// it. Waiting runs still start. Pausing a paused job changes nothing, unless the call
// names a reason or an end; then these replace the former ones. Where this node stands by, the pause begins with the
// first fire that nobody has decided on: a pause of a copy must run nothing.
func (s *JobService) Pause(ctx context.Context, id string, p entity.Pause) (*entity.Job, error) {
	return s.PauseAlso(ctx, id, p, nil)
}

// PauseAlso is Pause; also runs in the same transaction, unless nothing changes. It may be nil.
func (s *JobService) PauseAlso(ctx context.Context, id string, p entity.Pause,
	also func(ctx context.Context, tx repository.Tx) error,
) (*entity.Job, error) {
	p.Until = p.Until.Truncate(time.Millisecond)
	if err := apperror.Invalid(validation.Pause(p, s.Clock.Now())); err != nil {
		return nil, err
	}
	job, err := s.Jobs.Get(ctx, id)
	silent := p.Reason == "" && p.Until.IsZero()
	if err != nil || job.Status == entity.JobPaused && job.PausedBy == entity.PausedByUser && silent {
		return job, err
	}
	return s.change(ctx, id,
		edit{what: "job.paused", catchUpUntil: s.pausedFrom, apply: func(ctx context.Context, tx repository.Tx,
			old *entity.Job, _ repository.GroupTerms, now time.Time,
		) (*entity.Job, error) {
			if old.Status != entity.JobEnabled && old.Status != entity.JobPaused {
				return nil, apperror.Conflict("not_enabled", "the job is %s; only an enabled job can be paused", old.Status)
			}
			next := *old
			if old.Status == entity.JobEnabled {
				next.PauseBy(entity.PausedByUser, p, s.pausedFrom(old, now))
			}
			// Also of one that its group holds: it outlasts that.
			next.PausedBy, next.Pause = entity.PausedByUser, p
			if also == nil {
				return &next, nil
			}
			return &next, also(ctx, tx)
		}})
}

// pausedFrom is when a pause that somebody makes now begins.
func (s *JobService) pausedFrom(job *entity.Job, now time.Time) time.Time {
	next := job.NextFireTime
	if s.Working == nil || s.Working() || job.Status != entity.JobEnabled || next.IsZero() || next.After(now) {
		return now
	}
	return next.Add(-time.Millisecond)
}

// Resume plans a paused or newly created job again. The fires of a paused span
// are recorded as one skipped range (engine rule 3).
func (s *JobService) Resume(ctx context.Context, id string) (*entity.Job, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil || job.Status == entity.JobEnabled {
		return job, err
	}
	return s.change(ctx, id,
		edit{what: "job.resumed", apply: func(_ context.Context, _ repository.Tx, old *entity.Job,
			terms repository.GroupTerms, now time.Time,
		) (*entity.Job, error) {
			if old.Status == entity.JobFinished {
				return nil, apperror.Conflict("finished", "the job has fired for the last time; give it a new schedule instead")
			}
			if err := readable(old); err != nil {
				return nil, err
			}
			if terms.Paused() {
				return nil, apperror.Conflict("group_paused", "the group %s, or every job, is paused; resume that instead",
					old.Group)
			}
			if old.Status == entity.JobEnabled { // it has just followed its group
				next := *old
				return &next, nil
			}
			return s.resumed(old, now)
		}})
}

// resumedAtOnce is how many pauses that are over ResumeDue reads at once.
const resumedAtOnce = 200

// ResumeDue resumes the jobs whose pause has an end that has come. It is a periodic task,
// and several nodes may do it at once. A job that fails does not hold up the others; the
// next turn tries it again.
func (s *JobService) ResumeDue(ctx context.Context) error {
	left := map[string]bool{} // those that were tried and are found again
	var errs []error
	for len(errs) < resumedAtOnce {
		ids, err := s.Plans.JobPausesOver(ctx, s.Clock.Now(), resumedAtOnce+len(left))
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("find pauses that are over: %w", err))...)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return left[id] })
		for _, id := range ids {
			err := s.resumeDue(ctx, id)
			if err == nil {
				continue
			}
			left[id] = true
			if !apperror.Is(err, apperror.KindNotFound) {
				errs = append(errs, fmt.Errorf("end the pause of job %s: %w", id, err))
			}
			if apperror.Is(err, apperror.KindUnavailable) {
				return errors.Join(errs...)
			}
		}
		if len(ids) < resumedAtOnce {
			break
		}
	}
	return errors.Join(errs...)
}

// resumeDue ends the pause of one job at the moment that it names, however late it
// is now: what was planned since then is due. A job whose group is paused is then
// held by that, and one that cannot be planned stays paused, without an end.
func (s *JobService) resumeDue(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, edit{
		what: "job.resumed",
		catchUpUntil: func(old *entity.Job, now time.Time) time.Time {
			if until := old.Pause.Until; old.Status == entity.JobPaused && !until.IsZero() && until.Before(now) {
				return until
			}
			return now
		},
		apply: func(_ context.Context, _ repository.Tx, old *entity.Job, terms repository.GroupTerms,
			now time.Time,
		) (*entity.Job, error) {
			next := *old
			until := old.Pause.Until
			next.Pause.Until = time.Time{} // of a program that knew of no end, it may be that of a former pause
			if old.Status != entity.JobPaused || old.PausedBy != entity.PausedByUser || until.IsZero() {
				return &next, nil
			}
			if until.After(now) {
				return nil, errAsItShould // somebody has changed the end meanwhile
			}
			if terms.Paused() {
				_, p := terms.HeldSince(until)
				next.PauseBy(entity.PausedByGroup, p, until)
				return &next, nil
			}
			resumed, err := s.resumed(old, until)
			if err != nil || old.Unreadable() != "" {
				s.Logger.Warn("a job stays paused although its pause is over, because it cannot be planned", "job", id, "error",
					err, "unreadable", old.Unreadable())
				return &next, nil
			}
			return resumed, nil
		},
	})
	if errors.Is(err, errAsItShould) {
		return nil
	}
	return err
}

// resumed returns the job planned again from a moment on, up to which the pause is
// recorded.
func (s *JobService) resumed(old *entity.Job, from time.Time) (*entity.Job, error) {
	next := *old
	if old.Status == entity.JobCreated &&
		(old.Schedule.Kind == schedule.FixedRate || old.Schedule.Kind == schedule.FixedDelay) {
		next.Schedule.Anchor = from
	}
	if old.Status == entity.JobPaused && !old.NextFireTime.IsZero() && old.NextFireTime.After(from) {
		next.Resume()
		return &next, s.keepCursor(&next)
	}
	if old.Schedule.Kind == schedule.FixedDelay && old.Status == entity.JobPaused {
		// A run may be live: whoever ends last arms the job again.
		next.Resume()
		next.ClearCursor()
		return &next, nil
	}
	return &next, s.arm(&next, from)
}
