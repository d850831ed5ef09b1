package detached

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// sweepLimit bounds the runs of one step of a sweep.
const sweepLimit = 500

// SweepDeadlines ends detached runs whose targets have not reported in time,
// and returns how many.
func (m *Manager) SweepDeadlines(ctx context.Context) (ended int, err error) {
	now := m.Clock.Now()
	over := entity.DetachedKey(now.Add(time.Millisecond)) // the end of a range is no part of it
	ended, err = m.sweep(ctx, repository.ClaimRange{Lo: entity.DetachedSpan().Lo, Hi: over}, m.timeouts.Holds, late)
	if err == nil {
		var more int
		more, err = m.sweepOver(ctx, now)
		ended += more
	}
	if err != nil {
		err = fmt.Errorf("end detached runs past their deadline: %w", err)
	}
	return ended, err
}

// sweepOver ends runs whose time is over although the store's clock, which was set back, does not say so yet.
func (m *Manager) sweepOver(ctx context.Context, now time.Time) (ended int, err error) {
	for part := range slices.Chunk(m.timeouts.Over(now), sweepLimit) {
		claims := map[string]entity.ClaimKey{}
		for _, w := range part {
			claims[w.Execution] = w.Claim
		}
		execs, err := m.Executions.ByIDs(ctx, slices.Sorted(maps.Keys(claims)))
		if err != nil {
			return ended, err
		}
		execs = slices.DeleteFunc(execs, func(e *entity.Execution) bool { return e.Claim != claims[e.ID] })
		n, err := m.conclude(ctx, execs, late)
		ended += n
		if err != nil {
			return ended, err
		}
		for id, claim := range claims {
			m.timeouts.Forget(id, claim)
		}
	}
	return ended, nil
}

// sweep ends all detached runs of a range but those that are excluded. A run that cannot be ended, or has
// changed meanwhile, holds up none of the others (engine rule 10).
func (m *Manager) sweep(ctx context.Context, q repository.ClaimRange, excluded func(*entity.Execution) bool,
	outcome func(*entity.Execution) entity.Outcome,
) (ended int, err error) {
	var errs []error
	for q.Limit = sweepLimit; ; {
		execs, err := m.Claims.Range(ctx, q)
		if err != nil {
			return ended, errors.Join(append(errs, err)...)
		}
		found := len(execs)
		if found == sweepLimit {
			q.After(execs[found-1]) // go past what stays
		}
		n, err := m.conclude(ctx, slices.DeleteFunc(execs, excluded), outcome)
		ended += n
		if errs = append(errs, err); found < sweepLimit || err != nil && batch.Passes(err) {
			return ended, errors.Join(errs...)
		}
	}
}

// late is the end of an attempt whose target did not report.
func late(exec *entity.Execution) entity.Outcome {
	o := entity.Outcome{
		Status: entity.StatusTimeout, Reason: entity.ReasonTimeout, Progress: exec.Progress, Checkpoint: exec.Checkpoint,
		Message: "the target accepted the run and did not report its end in time",
	}
	if until, ok := exec.Claim.DetachedUntil(); ok && !exec.StartTime.IsZero() {
		o.Message = fmt.Sprintf("the target accepted the run and did not report its end within %s",
			until.Sub(exec.StartTime).Round(time.Millisecond))
	}
	return o
}

// SweepCancels ends detached runs that somebody asked to stop and that go on: a
// node of the former release does not know that nobody else will stop them.
func (m *Manager) SweepCancels(ctx context.Context) (ended int, err error) {
	span := entity.DetachedSpan()
	ended, err = m.sweep(ctx, repository.ClaimRange{Lo: span.Lo, Hi: span.Hi, CancelRequested: true},
		func(*entity.Execution) bool { return false },
		func(exec *entity.Execution) entity.Outcome { return cancelled(exec, exec.Reason) })
	if err != nil {
		err = fmt.Errorf("end detached runs that are to be cancelled: %w", err)
	}
	return ended, err
}

func cancelled(exec *entity.Execution, reason entity.Reason) entity.Outcome {
	return entity.Outcome{
		Status: entity.StatusCancelled, Reason: reason, Progress: exec.Progress,
		Checkpoint: exec.Checkpoint,
	}
}

// Cancel ends a detached run at once; its target learns of it by its next
// report. done is false where the run is not detached any more.
func (m *Manager) Cancel(ctx context.Context, exec *entity.Execution) (done bool, err error) {
	n, err := m.conclude(ctx, []*entity.Execution{exec}, func(exec *entity.Execution) entity.Outcome {
		return cancelled(exec, entity.ReasonNone)
	})
	if errors.Is(err, repository.ErrCommitUnknown) {
		err = apperror.Unavailable(err)
	}
	return n == 1, err
}

func (m *Manager) conclude(ctx context.Context, execs []*entity.Execution,
	outcome func(*entity.Execution) entity.Outcome,
) (n int, err error) {
	if len(execs) == 0 {
		return 0, nil
	}
	jobs, err := m.Jobs.For(ctx, execs)
	if err != nil {
		return 0, fmt.Errorf("load the jobs of detached runs: %w", err)
	}
	ends := make([]completion.End, len(execs))
	for i, exec := range execs {
		ends[i] = completion.End{Run: entity.Run{Job: entity.JobOf(exec, jobs), Execution: exec}, Outcome: outcome(exec)}
	}
	taken, err := m.Runner.Conclude(ctx, ends)
	for _, ok := range taken {
		if ok {
			n++
		}
	}
	return n, err
}
