package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// FollowGroup implements JobHolder. That the job is paused, or planned again, is
// what every change of it begins with.
func (s *JobService) FollowGroup(ctx context.Context, id string) error {
	var before entity.Job
	_, err := s.change(ctx, id, edit{
		what:       "job.group",
		spanGoesOn: true,
		groups:     func(old *entity.Job) []string { before = *old; return []string{old.Group} },
		apply: func(_ context.Context, _ repository.Tx, old *entity.Job, terms repository.GroupTerms,
			_ time.Time,
		) (*entity.Job, error) {
			next := *old
			next.Limited = terms.Limited
			if next.Status == before.Status && next.PausedBy == before.PausedBy && next.Limited == before.Limited &&
				next.NextFireTime.Equal(before.NextFireTime) {
				return nil, errAsItShould
			}
			return &next, nil
		},
	})
	if errors.Is(err, errAsItShould) || apperror.Is(err, apperror.KindNotFound) {
		return nil
	}
	return err
}

// errAsItShould ends a change that is none.
var errAsItShould = errors.New("the job is as it should be")

// outOfSync reports that a job is not paused although its group holds it, or is
// although nothing but the group had paused it.
func outOfSync(job *entity.Job, terms repository.GroupTerms) bool {
	switch {
	case job.Status == entity.JobEnabled:
		return terms.Paused() || missed(job, terms)
	case job.Status == entity.JobPaused && job.PausedBy == entity.PausedByGroup:
		return !terms.Paused()
	}
	return false
}

// missed reports whether a job did not follow a pause of its group that is over. The
// pause holds the job until its skipped fires are recorded.
func missed(job *entity.Job, terms repository.GroupTerms) bool {
	return !job.NextFireTime.IsZero() && terms.Holds(job.NextFireTime)
}

// plannedUntil returns until when the present state of the job decides its times. That is
// when a pause of its group began that the job does not know of, else now.
func plannedUntil(job *entity.Job, terms repository.GroupTerms, now time.Time) time.Time {
	if job.Status == entity.JobEnabled && outOfSync(job, terms) {
		if since, _ := terms.HeldSince(job.NextFireTime); !since.IsZero() && since.Before(now) {
			return since
		}
	}
	return now
}

// resumedAt is when the pause ended that holds a job.
func resumedAt(job *entity.Job, terms repository.GroupTerms, now time.Time) time.Time {
	if at := terms.ResumedAt(); at.After(job.PausedAt) && !at.After(now) {
		return at
	}
	return now
}

// adoptTerms makes a locked job follow its group, in memory. It stores what was due
// before, and the range of the span.
func (s *JobService) adoptTerms(ctx context.Context, tx repository.Tx, job *entity.Job, terms repository.GroupTerms,
	now time.Time,
) (effect commit.PostCommit, more bool, err error) {
	if job.Status == entity.JobEnabled {
		since := plannedUntil(job, terms, now)
		_, p := terms.HeldSince(job.NextFireTime)
		effect, more, err = s.settler.CatchUp(ctx, tx, job, since, now)
		if err != nil || more && !terms.Paused() {
			return effect, more, err
		}
		job.PauseBy(entity.PausedByGroup, p, since)
		if terms.Paused() {
			return effect, false, nil // what is not decided is part of the span
		}
	}
	rows, err := s.endHold(job, terms, now)
	if err != nil {
		return effect, false, err
	}
	return effect, false, s.insertEnded(ctx, tx, rows, now)
}

// endHold plans a job again that its group held, in memory, and returns the range
// of the span. One that cannot be planned stays paused, by itself.
func (s *JobService) endHold(job *entity.Job, terms repository.GroupTerms,
	now time.Time,
) (rows []*entity.Execution, err error) {
	until := resumedAt(job, terms, now)
	if !job.NextFireTime.IsZero() {
		rows, err = s.settler.EndPause(job, until, now)
	}
	var next *entity.Job
	if err == nil {
		next, err = s.resumed(job, until)
	}
	if err != nil || job.Unreadable() != "" {
		s.Logger.Warn("a job stays paused although its group is not, because it cannot be planned", "job", job.ID, "error",
			err, "unreadable", job.Unreadable())
		job.PausedBy = entity.PausedByUser
		return rows, nil
	}
	*job = *next
	return rows, nil
}

// insertEnded stores rows that are final, with their events.
func (s *JobService) insertEnded(ctx context.Context, tx repository.Tx, rows []*entity.Execution, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	if err := tx.Executions.Insert(ctx, rows); err != nil {
		return fmt.Errorf("insert %d ranges: %w", len(rows), err)
	}
	return s.Admitter.RecordEnds(ctx, tx, now, rows)
}

// follow returns the definition as its new group requires. The limit of the group binds
// it, and a pause of the group pauses it. A job that only its former group paused is
// planned again.
func (s *JobService) follow(ctx context.Context, tx repository.Tx, job *entity.Job,
	now time.Time,
) (*entity.Job, error) {
	terms, err := tx.Groups.Terms(ctx, job.Group)
	if err != nil {
		return job, err
	}
	next := *job
	next.Limited = terms.Limited
	switch {
	case job.Status == entity.JobEnabled && terms.Paused():
		_, p := terms.HeldSince(now)
		next.PauseBy(entity.PausedByGroup, p, now)
	case job.Status == entity.JobPaused && job.PausedBy == entity.PausedByGroup && !terms.Paused():
		resumed, err := s.resumed(&next, now)
		if err != nil {
			return job, err
		}
		next = *resumed
	}
	return &next, nil
}

// OpenGroup implements JobHolder.
func (s *JobService) OpenGroup(ctx context.Context, name string) error {
	for {
		var effect commit.PostCommit
		err := s.Store.Write(ctx, repository.LaneAPI, "group.open", func(ctx context.Context, tx repository.Tx) error {
			effect = commit.PostCommit{}
			return s.Admitter.FillGroupSlots(ctx, tx, s.Clock.Now(), &effect, name)
		})
		if err != nil || effect.Ready+effect.Away == 0 {
			return err
		}
		s.Engine.AfterCommit(effect)
	}
}

// FollowGroups implements JobHolder. The planners know of the pause or its end already,
// so this sends no hint for each job.
func (s *JobService) FollowGroups(ctx context.Context, ids []string) (left []string, err error) {
	err = s.Store.Write(ctx, repository.LaneAPI, "job.groups", func(ctx context.Context, tx repository.Tx) error {
		left = nil
		jobs, err := tx.Jobs.LockMany(ctx, ids)
		if err != nil {
			return err
		}
		f := followers{s: s, now: s.Clock.Now(), terms: map[string]repository.GroupTerms{}, seen: map[string]bool{}}
		for _, job := range jobs {
			if err := f.add(ctx, tx, job); err != nil {
				return err
			}
		}
		for _, id := range ids {
			if !f.seen[id] {
				left = append(left, id)
			}
		}
		return f.store(ctx, tx)
	})
	return left, err
}

// followers are the jobs that follow their groups in one transaction.
type followers struct {
	s     *JobService
	now   time.Time
	terms map[string]repository.GroupTerms
	// seen are the jobs that need nothing more.
	seen map[string]bool
	jobs []*entity.Job
	rows []*entity.Execution
}

// add takes a locked job of which there is nothing to decide but its pause.
func (f *followers) add(ctx context.Context, tx repository.Tx, job *entity.Job) error {
	terms, known := f.terms[job.Group]
	if !known {
		var err error
		if terms, err = tx.Groups.Terms(ctx, job.Group); err != nil {
			return err
		}
		f.terms[job.Group] = terms
	}
	switch {
	case job.Limited != terms.Limited, job.Unreadable() != "":
		return nil
	case !outOfSync(job, terms):
		f.seen[job.ID] = true
		return nil
	case job.Status == entity.JobEnabled:
		since := plannedUntil(job, terms, f.now)
		if !terms.Paused() || !job.NextFireTime.IsZero() && !job.DueTime.After(since) {
			return nil // something of it is to be settled
		}
		_, p := terms.HeldSince(job.NextFireTime)
		job.PauseBy(entity.PausedByGroup, p, since)
	case job.Schedule.Kind == schedule.FixedDelay:
		return nil // it may have to be armed
	default:
		rows, err := f.s.endHold(job, terms, f.now)
		if err != nil {
			return err
		}
		f.rows = append(f.rows, rows...)
	}
	job.Version, job.UpdateTime = job.Version+1, f.now
	f.jobs = append(f.jobs, job)
	f.seen[job.ID] = true
	return nil
}

// store writes what was added.
func (f *followers) store(ctx context.Context, tx repository.Tx) error {
	if len(f.jobs) == 0 {
		return nil
	}
	if err := f.s.insertEnded(ctx, tx, f.rows, f.now); err != nil {
		return err
	}
	if err := tx.Jobs.UpdateStates(ctx, f.jobs); err != nil {
		return err
	}
	events := make([]entity.Event, len(f.jobs))
	for i, job := range f.jobs {
		var err error
		if events[i], err = f.s.jobEvent(job, "job.group"); err != nil {
			return err
		}
	}
	return tx.Records.AddEvents(ctx, events)
}
