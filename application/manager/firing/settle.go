package firing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

// settleLimit is the most fires that one edit records; more of them, which
// takes FIRE_ALL or a very busy schedule, become one range row.
const settleLimit = 1000

// Settler decides what is due and undecided of a job before its definition
// changes (engine rule 3).
type Settler struct {
	Places    *coordination.Places
	Schedules coordination.Compiler
}

// Settle records, in tx and under the job's present definition, everything of
// the locked job that is due at now: fires wait to be claimed, a paused span
// becomes one range row. The job's cursor is moved in memory; the caller
// stores it. Jobs that are not planned are left alone.
func (s Settler) Settle(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time) (coordination.Effect, error) {
	if job.NextFireTime.IsZero() {
		return coordination.Effect{}, nil
	}
	res := &result{}
	var err error
	switch job.Status {
	case entity.JobEnabled:
		err = s.settleDue(ctx, tx, job, now, res)
	case entity.JobPaused:
		err = s.settlePause(job, now, res)
	default:
		return coordination.Effect{}, nil
	}
	if err != nil || len(res.rows) == 0 {
		return res.effect, err
	}
	slices.SortFunc(res.rows, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	if err := tx.Executions.Insert(ctx, res.rows); err != nil {
		return res.effect, fmt.Errorf("insert %d settled executions: %w", len(res.rows), err)
	}
	return res.effect, addEvents(ctx, tx, res, now)
}

func (s Settler) settleDue(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time, res *result) error {
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return fmt.Errorf("compile the schedule of job %s: %w", job.ID, err)
	}
	places, err := coordination.LiveOf(ctx, tx, job)
	if err != nil {
		return err
	}
	var a coordination.Admission
	plan := Decide(job, sched, now, settleLimit)
	if plan.Skip != nil {
		res.rows = append(res.rows, coordination.Range(job, *plan.Skip, now))
	}
	for _, f := range plan.Fires {
		if err := s.Places.Admit(ctx, tx, now, job, places[job.ID], coordination.PlannedFire(f), &a); err != nil {
			return err
		}
	}
	Apply(job, sched, plan)
	if plan.Partial {
		skip, next := planning.Span(view(job, sched), job.NextFireTime, now.Add(-sched.Jitter(job.ID)), entity.ReasonMisfire)
		if skip != nil {
			res.rows = append(res.rows, coordination.Range(job, *skip, now))
		}
		coordination.SetNext(job, sched, next, !next.IsZero())
	}
	res.rows = append(res.rows, a.Rows...)
	res.effect.Add(a.Effect)
	if len(a.LiveFires) == 0 {
		return nil
	}
	return tx.LiveFires.Insert(ctx, a.LiveFires)
}

func (s Settler) settlePause(job *entity.Job, now time.Time, res *result) error {
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return fmt.Errorf("compile the schedule of job %s: %w", job.ID, err)
	}
	skip, next := planning.Span(view(job, sched), job.NextFireTime, now, entity.ReasonPaused)
	if skip != nil {
		res.rows = append(res.rows, coordination.Range(job, *skip, now))
	}
	job.NextFireTime, job.DueTime = next, time.Time{}
	return nil
}
