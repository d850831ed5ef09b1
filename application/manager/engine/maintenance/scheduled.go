package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// sweepLimit bounds the executions of one sweep's transaction.
const sweepLimit = 500

// PromoteScheduled makes the scheduled runs ready whose moment has come, and returns when
// the next one comes; zero when none waits. A run that fails, or is locked
// by somebody else, holds up none of the others.
func (r *Repairer) PromoteScheduled(ctx context.Context) (next time.Time, err error) {
	now := r.StoreClock.Now()
	scheduled, end := entity.ScheduledSpan(), entity.ScheduledKey(now.Add(time.Millisecond))
	var errs []error
	for q := (repository.ClaimRange{Lo: scheduled.Lo, Hi: end, Limit: sweepLimit}); ; {
		execs, err := r.Claims.Range(ctx, q)
		if err != nil {
			return time.Time{}, errors.Join(append(errs, err)...)
		}
		found := len(execs)
		if found == sweepLimit {
			q.After(execs[found-1]) // go past what stays
		}
		err = r.promote(ctx, slices.DeleteFunc(execs, r.backOffs.Holds), now)
		if errs = append(errs, err); err != nil && endsSweep(err) {
			return time.Time{}, errors.Join(errs...)
		}
		if found < sweepLimit {
			break
		}
	}
	if err := r.promoteOver(ctx, now); err != nil {
		return time.Time{}, errors.Join(append(errs, err)...)
	}
	first, err := r.Claims.First(ctx, end, scheduled.Hi)
	if err = errors.Join(append(errs, err)...); err != nil {
		return time.Time{}, err
	}
	next, _ = first.ScheduledUntil()
	if wait, ok := r.backOffs.Next(); ok && (next.IsZero() || now.Add(wait).Before(next)) {
		next = now.Add(wait)
	}
	return next, nil
}

// promoteOver makes the runs ready whose back-off is over although the store's clock, which was set back, does not say
// so yet.
func (r *Repairer) promoteOver(ctx context.Context, now time.Time) error {
	for part := range slices.Chunk(r.backOffs.Over(now), sweepLimit) {
		execs, err := r.Executions.ByIDs(ctx, convert.All(part, func(w entity.SteadyWait) string { return w.Execution }))
		if err != nil {
			return err
		}
		found := entity.ByID(execs)
		execs = execs[:0]
		for _, w := range part {
			if exec := found[w.Execution]; exec != nil && exec.Claim == w.Claim {
				execs = append(execs, exec)
			} else {
				r.backOffs.Forget(w.Execution, w.Claim)
			}
		}
		err = batch.Walk(r.blame, execs, idOf, func(execs []*entity.Execution) error {
			return r.makeReady(ctx, execs, now, func(time.Time) bool { return true })
		}, func(exec *entity.Execution, cause error) error {
			return fmt.Errorf("let run %s start after its back-off: %w", exec.ID, cause)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Repairer) promote(ctx context.Context, execs []*entity.Execution, now time.Time) error {
	var limited, ready []*entity.Execution
	for _, exec := range execs {
		if exec.Claim.ScheduledLimited() {
			limited = append(limited, exec)
		} else {
			ready = append(ready, exec)
		}
	}
	errs := make([]error, 2)
	for i, part := range []struct {
		execs []*entity.Execution
		move  func(ctx context.Context, execs []*entity.Execution, now time.Time) error
	}{{ready, r.makeDueReady}, {limited, r.makeWait}} {
		errs[i] = batch.Walk(r.blame, part.execs, idOf, func(execs []*entity.Execution) error {
			return part.move(ctx, execs, now)
		}, func(exec *entity.Execution, cause error) error {
			return fmt.Errorf("let run %s start: %w", exec.ID, cause)
		})
	}
	return errors.Join(errs...)
}

func (r *Repairer) makeDueReady(ctx context.Context, execs []*entity.Execution, now time.Time) error {
	return r.makeReady(ctx, execs, now, func(until time.Time) bool { return !until.After(now) })
}

// makeReady sends scheduled runs to where they are claimed if their moment is due, but for those that
// somebody else has locked, or has changed since they were read.
func (r *Repairer) makeReady(
	ctx context.Context,
	execs []*entity.Execution,
	now time.Time,
	due func(until time.Time) bool,
) error {
	claims := map[string]entity.ClaimKey{}
	for _, exec := range execs {
		claims[exec.ID] = exec.Claim
	}
	ids := entity.IDsOf(execs)
	slices.Sort(ids)
	jobs, err := r.Jobs.For(ctx, execs)
	if err != nil {
		return err
	}
	r.Admitter.Prepare(ctx, slices.Collect(maps.Values(jobs))...)
	var effect, others commit.PostCommit
	err = r.Store.Write(ctx, repository.LaneComplete, "unpark", func(ctx context.Context, tx repository.Tx) error {
		others = commit.PostCommit{}
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		_, effect, err = r.Admitter.Enqueue(ctx, tx, now, jobs, held, func(exec *entity.Execution) (time.Time, bool) {
			if exec.Claim.Ready() {
				// Another made it ready meanwhile, and the claim that follows passes over it while it is locked here.
				others.AddReady(exec.Claim.Queue().Kind())
			}
			until, scheduled := exec.Claim.ScheduledUntil()
			if !scheduled || exec.Claim.ScheduledLimited() || exec.Claim != claims[exec.ID] || !due(until) {
				return until, false
			}
			if r.backOffs.Knows(exec) { // its moment may lie apart from the end of its wait
				exec.RestartDeadline(until, now)
				until = now
			}
			exec.UpdateTime = until
			return until, true
		})
		return err
	})
	if err != nil {
		return err
	}
	for id, claim := range claims {
		r.backOffs.Forget(id, claim)
	}
	effect.Add(others)
	r.Commits.AfterCommit(effect)
	return nil
}
