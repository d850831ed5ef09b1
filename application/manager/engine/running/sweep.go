package running

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/faillog"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// sweepLimit bounds the rows of one sweep's transaction.
const sweepLimit = 500

// unparkSweep is how often parked runs are looked at although none is known to
// come due.
const unparkSweep = 5 * time.Second

// unparkLoop makes parked runs ready when their moment has come.
func (t *TaskManager) unparkLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(0)
	defer timer.Stop()
	trouble := faillog.New("unpark", t.Clock, t.Logger)
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-t.parked:
			if !next.IsZero() && !at.Before(next) {
				continue
			}
			next = at
		case <-timer.C():
			var err error
			if next, err = t.Unpark(ctx); err != nil {
				next = t.StoreClock.Now().Add(time.Second)
			}
			if ctx.Err() != nil {
				return
			}
			trouble.Note(err)
		}
		wait := unparkSweep
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(t.StoreClock.Now()), 0))
		}
		timer.Reset(wait)
	}
}

// Unpark makes the parked runs ready whose moment has come, and returns when
// the next one comes; zero when none is parked. What fails, or is locked by
// somebody else, holds up none of the others.
func (t *TaskManager) Unpark(ctx context.Context) (next time.Time, err error) {
	now := t.StoreClock.Now()
	parked, end := entity.ParkedSpan(), entity.ParkedKey(now.Add(time.Millisecond))
	var errs []error
	for q := (repository.ClaimRange{Lo: parked.Lo, Hi: end, Limit: sweepLimit}); ; {
		rows, err := t.Claims.Range(ctx, q)
		if err != nil {
			return time.Time{}, errors.Join(append(errs, err)...)
		}
		err = t.unpark(ctx, rows, now)
		if errs = append(errs, err); err != nil && endsSweep(err) {
			return time.Time{}, errors.Join(errs...)
		}
		if len(rows) < sweepLimit {
			break
		}
		q.After(rows[len(rows)-1]) // go past what stays
	}
	first, err := t.Claims.First(ctx, end, parked.Hi)
	if err = errors.Join(append(errs, err)...); err != nil {
		return time.Time{}, err
	}
	next, _ = first.ParkedUntil()
	return next, nil
}

func (t *TaskManager) unpark(ctx context.Context, rows []*entity.Execution, now time.Time) error {
	var delayed, ready []*entity.Execution
	for _, row := range rows {
		if row.Claim.Delayed() {
			delayed = append(delayed, row)
		} else {
			ready = append(ready, row)
		}
	}
	errs := make([]error, 2)
	for i, part := range []struct {
		rows []*entity.Execution
		move func(ctx context.Context, rows []*entity.Execution, now time.Time) error
	}{{ready, t.makeReady}, {delayed, t.makeWait}} {
		errs[i] = batch.Bisect(part.rows, func(rows []*entity.Execution) error {
			return part.move(ctx, rows, now)
		}, func(row *entity.Execution, cause error) error {
			return fmt.Errorf("let run %s start: %w", row.ID, cause)
		})
	}
	return errors.Join(errs...)
}

// makeReady sends parked runs to where they are claimed, but for those that
// somebody else has locked.
func (t *TaskManager) makeReady(ctx context.Context, rows []*entity.Execution, now time.Time) error {
	ids, jobIDs := make([]string, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		ids[i], jobIDs[i] = row.ID, row.JobID
	}
	slices.Sort(ids)
	jobs, err := t.Jobs.Load(ctx, jobIDs)
	if err != nil {
		return err
	}
	t.Places.Prepare(ctx, slices.Collect(maps.Values(jobs))...)
	var effect admission.Effect
	err = t.Store.Write(ctx, repository.LaneComplete, "unpark", func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		_, effect, err = t.Places.Enqueue(ctx, tx, now, jobs, held, func(row *entity.Execution) (time.Time, bool) {
			until, parked := row.Claim.ParkedUntil()
			row.UpdateTime = until
			return until, parked && !row.Claim.Delayed() && !until.After(now)
		})
		return err
	})
	if err != nil {
		return err
	}
	t.Notice(effect)
	return nil
}

// SweepDeadlines ends waiting runs whose start deadline has passed (engine rule
// 17): those for which there was no node as SKIPPED(NO_NODE), the others as
// SKIPPED(DEADLINE); as FAILED where it was a retry. A look takes a page, and the
// next one goes past what stayed of it, so that what cannot be ended hides none of
// the others. It returns how many it ended, and is never called twice at once.
func (t *TaskManager) SweepDeadlines(ctx context.Context) (int, error) {
	now := t.StoreClock.Now()
	closed := 0
	var errs []error
	// What runs stands between them and may be past its deadline for long.
	for _, waiting := range entity.WaitingSpans() {
		q := repository.ClaimRange{Lo: waiting.Lo, Hi: waiting.Hi, Limit: sweepLimit, DeadlineBefore: now}
		if last := t.stayed[waiting]; last != nil {
			q.After(last)
		}
		rows, err := t.Claims.Range(ctx, q)
		if err != nil {
			return closed, errors.Join(append(errs, err)...)
		}
		before := closed
		// Runs without a node stand behind all others.
		first := slices.IndexFunc(rows, unplaced)
		if first < 0 {
			first = len(rows)
		}
		for reason, part := range map[entity.Reason][]*entity.Execution{
			entity.ReasonDeadline: rows[:first], entity.ReasonNoNode: rows[first:],
		} {
			err := batch.Bisect(part, func(part []*entity.Execution) error {
				n, err := t.skipLate(ctx, part, reason)
				closed += n
				return err
			}, func(row *entity.Execution, err error) error {
				return fmt.Errorf("end run %s past its start deadline: %w", row.ID, err)
			})
			if errs = append(errs, err); err != nil && endsSweep(err) {
				return closed, errors.Join(errs...)
			}
		}
		if len(rows) < sweepLimit {
			delete(t.stayed, waiting) // from the first again
		} else if closed-before < len(rows) {
			t.stayed[waiting] = rows[len(rows)-1]
		}
	}
	return closed, errors.Join(errs...)
}

func unplaced(row *entity.Execution) bool { return row.Claim.Queue().Unplaced() }

func (t *TaskManager) skipLate(ctx context.Context, rows []*entity.Execution, reason entity.Reason) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	closer := Closer{Store: t.Store, Places: t.Places, Jobs: t.Jobs, Clock: t.StoreClock}
	skip := func(row *entity.Execution, now time.Time) error { return row.Skip(reason, now) }
	closed, effect, err := closer.CloseWaiting(ctx, repository.LaneComplete, rows, skip,
		func(e *entity.Execution, now time.Time) bool {
			return !e.StartDeadline.IsZero() && e.StartDeadline.Before(now) && unplaced(e) == (reason == entity.ReasonNoNode)
		})
	if err != nil {
		return 0, err
	}
	t.Notice(effect)
	for _, row := range closed {
		t.Metrics.Ended(row.Status, row.Reason, 0, false)
	}
	return len(closed), nil
}
