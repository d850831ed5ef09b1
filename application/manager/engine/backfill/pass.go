package backfill

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// pass moves one backfill on, inside one transaction that holds the lock of
// its job. job is nil when it was deleted.
type pass struct {
	admitter *admission.Admitter
	tx       repository.Tx
	job      *entity.Job
	b        entity.Backfill
	now      time.Time

	admitted admission.Admission
}

// run decides the next times. more says that it stopped only because one
// transaction must stay small.
func (p *pass) run(ctx context.Context, sched *schedule.Schedule) (more bool, err error) {
	if p.job == nil {
		p.b.Status = entity.BackfillCancelled
		return false, p.save(ctx)
	}
	cursor := p.b.Cursor
	window := sched.Between(cursor, p.b.To, lookahead)
	decided, err := p.decide(ctx, window)
	if err != nil {
		return false, err
	}
	switch {
	case decided == len(window) && decided < lookahead:
		p.b.Cursor = p.b.To
	case decided > 0:
		p.b.Cursor = window[decided-1].Add(time.Millisecond)
	}
	if !p.b.Cursor.Before(p.b.To) && len(p.b.Open) == 0 {
		p.b.Status, p.b.AlreadyRun = entity.BackfillDone, max(p.b.Total-p.b.Started, 0)
	} else if p.b.Cursor.Equal(cursor) {
		return false, nil
	}
	if len(p.admitted.Executions) > 0 {
		if err := p.admitter.Record(ctx, p.tx, p.now, &p.admitted, p.job); err != nil {
			return false, fmt.Errorf("record %d runs of job %s: %w", len(p.admitted.Executions), p.job.ID, err)
		}
	}
	return decided == lookahead, p.save(ctx)
}

// decide admits or leaves out the times in order, and returns how many: it
// stops at the first that must wait.
func (p *pass) decide(ctx context.Context, times []time.Time) (int, error) {
	past, err := Look(ctx, p.tx.Backfills, p.job.ID, slices.Concat(p.b.Open, times), p.b.IncludeFailed)
	if err != nil {
		return 0, err
	}
	p.b.Open = past.open(p.b)
	lives, err := admission.LiveOf(ctx, p.tx, p.job)
	if err != nil {
		return 0, err
	}
	live := lives[p.job.ID]
	for i, at := range times {
		if p.planned(at) {
			return i, nil
		}
		again := past.Again(at)
		if past.Ran(at) && len(again) == 0 {
			continue
		}
		if len(p.b.Open) >= p.b.MaxParallel || !p.admitter.Free(p.job, live) {
			return i, nil
		}
		fire, found, err := p.fire(ctx, at, again)
		if err != nil {
			return i, err
		}
		if !found {
			continue
		}
		fire.By.User = p.b.User
		if err := p.admitter.Admit(ctx, p.tx, p.now, p.job, live, fire, &p.admitted); err != nil {
			return i, err
		}
		p.b.Open = append(p.b.Open, at)
		p.b.Started++
	}
	return len(times), nil
}

// fire is what runs a time: its first run, or one that repeats what failed of it.
// found is false where retention has taken that meanwhile.
func (p *pass) fire(ctx context.Context, at time.Time, again []string) (f entity.Fire, found bool, err error) {
	if len(again) == 0 {
		return entity.BackfillFire(at, p.now), true, nil
	}
	// Retention passes over what is locked, and then sees what was made of it.
	failed, err := p.tx.Executions.Lock(ctx, again)
	if err != nil {
		return f, false, fmt.Errorf("lock the executions of job %s that are repeated: %w", p.job.ID, err)
	}
	if len(failed) == 0 {
		return f, false, nil
	}
	return entity.RepeatFire(p.b.ID, failed, p.now), true, nil
}

// planned reports that the schedule has yet to decide a time, because of
// jitter or because it is behind: it goes first. That of a paused job decides
// about the past only to skip it.
func (p *pass) planned(at time.Time) bool {
	return p.job.Status == entity.JobEnabled && !p.job.NextFireTime.IsZero() && !at.Before(p.job.NextFireTime)
}

func (p *pass) save(ctx context.Context) error {
	p.b.UpdateTime = p.now
	return p.tx.Backfills.Save(ctx, p.b)
}
