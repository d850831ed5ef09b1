package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// SweepDeadlines ends waiting runs whose start deadline has passed (engine rule
// 17): those for which there was no node as SKIPPED(NO_NODE), the others as
// SKIPPED(DEADLINE); as FAILED where it was a retry. A look takes a page, and the
// next one goes past what stayed of it, so that what cannot be ended hides none of
// the others. It returns how many it ended, and is never called twice at once.
func (r *Repairer) SweepDeadlines(ctx context.Context) (int, error) {
	now := r.StoreClock.Now()
	closed := 0
	var errs []error
	// Running executions stand between them and may be past their deadline for long.
	for _, waiting := range entity.WaitingSpans() {
		q := repository.ClaimRange{Lo: waiting.Lo, Hi: waiting.Hi, Limit: sweepLimit, DeadlineBefore: now}
		if last := r.stayed[waiting]; last != nil {
			q.After(last)
		}
		execs, err := r.Claims.Range(ctx, q)
		if err != nil {
			return closed, errors.Join(append(errs, err)...)
		}
		before, found := closed, len(execs)
		var last *entity.Execution
		if found > 0 {
			last = execs[found-1]
		}
		execs = slices.DeleteFunc(execs, r.backOffs.Knows) // whose span to start in has not begun
		// Runs without a node stand behind all others.
		first := slices.IndexFunc(execs, unroutable)
		if first < 0 {
			first = len(execs)
		}
		for reason, part := range map[entity.Reason][]*entity.Execution{
			entity.ReasonDeadline: execs[:first], entity.ReasonNoNode: execs[first:],
		} {
			err := batch.Walk(r.blame, part, idOf, func(part []*entity.Execution) error {
				n, err := r.skipLate(ctx, part, reason)
				closed += n
				return err
			}, func(exec *entity.Execution, err error) error {
				return fmt.Errorf("end run %s past its start deadline: %w", exec.ID, err)
			})
			if errs = append(errs, err); err != nil && endsSweep(err) {
				return closed, errors.Join(errs...)
			}
		}
		if found < sweepLimit {
			delete(r.stayed, waiting) // from the first again
		} else if closed-before < found {
			r.stayed[waiting] = last
		}
	}
	return closed, errors.Join(errs...)
}

func unroutable(exec *entity.Execution) bool { return exec.Claim.Queue().Unroutable() }

func (r *Repairer) skipLate(ctx context.Context, execs []*entity.Execution, reason entity.Reason) (int, error) {
	if len(execs) == 0 {
		return 0, nil
	}
	closer := Closer{Store: r.Store, Admitter: r.Admitter, Jobs: r.Jobs, Clock: r.StoreClock}
	skip := func(exec *entity.Execution, now time.Time) error { return exec.Skip(reason, now) }
	closed, effect, err := closer.CloseWaiting(ctx, repository.LaneComplete, execs, skip,
		func(e *entity.Execution, now time.Time) bool {
			return !e.StartDeadline.IsZero() && e.StartDeadline.Before(now) && unroutable(e) == (reason == entity.ReasonNoNode)
		})
	if err != nil {
		return 0, err
	}
	r.Commits.AfterCommit(effect)
	for _, exec := range closed {
		r.Metrics.Ended(entity.AttemptEnd{ExecutionID: exec.ID, Status: exec.Status, Reason: exec.Reason})
	}
	return len(closed), nil
}
