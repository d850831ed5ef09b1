package running

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/application/manager/outage"
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
	trouble := outage.New("unpark", t.Clock, t.Logger)
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
	lo := parked.Lo
	var errs []error
	for {
		rows, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: lo, Hi: end, Limit: sweepLimit})
		if err != nil {
			return time.Time{}, errors.Join(append(errs, err)...)
		}
		moved, err := t.unpark(ctx, rows, now)
		if errs = append(errs, err); err != nil && endsSweep(err) {
			return time.Time{}, errors.Join(errs...)
		}
		if len(rows) < sweepLimit {
			break
		}
		if moved < len(rows) { // go past what stays
			last := rows[len(rows)-1].Claim
			if last == lo {
				last += "\x00"
			}
			lo = last
		}
	}
	first, err := t.Claims.First(ctx, end, parked.Hi)
	if err = errors.Join(append(errs, err)...); err != nil {
		return time.Time{}, err
	}
	next, _ = first.ParkedUntil()
	return next, nil
}

// unpark returns how many of the rows it moved.
func (t *TaskManager) unpark(ctx context.Context, rows []*entity.Execution, now time.Time) (moved int, err error) {
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
		move func(ctx context.Context, rows []*entity.Execution, now time.Time) (int, error)
	}{{ready, t.makeReady}, {delayed, t.makeWait}} {
		errs[i] = batch.Bisect(part.rows, func(rows []*entity.Execution) error {
			n, err := part.move(ctx, rows, now)
			moved += n
			return err
		}, func(row *entity.Execution, cause error) error {
			return fmt.Errorf("let run %s start: %w", row.ID, cause)
		})
	}
	return moved, errors.Join(errs...)
}

// makeReady sends parked runs to where they are claimed, but for those that
// somebody else has locked.
func (t *TaskManager) makeReady(ctx context.Context, rows []*entity.Execution, now time.Time) (moved int, err error) {
	ids, jobIDs := make([]string, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		ids[i], jobIDs[i] = row.ID, row.JobID
	}
	slices.Sort(ids)
	jobs, err := t.Jobs.Load(ctx, jobIDs)
	if err != nil {
		return 0, err
	}
	t.Places.Prepare(ctx, slices.Collect(maps.Values(jobs))...)
	var effect coordination.Effect
	err = t.Store.Write(ctx, repository.LaneComplete, "unpark", func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.TryLock(ctx, ids)
		if err != nil {
			return err
		}
		moved, effect, err = t.Places.Enqueue(ctx, tx, now, jobs, held, func(row *entity.Execution) (time.Time, bool) {
			until, parked := row.Claim.ParkedUntil()
			row.UpdateTime = until
			return until, parked && !row.Claim.Delayed() && !until.After(now)
		})
		return err
	})
	if err != nil {
		return 0, err
	}
	t.Notice(effect)
	return moved, nil
}

// SweepDeadlines ends waiting runs whose start deadline has passed (engine rule
// 17): those for which there was no node as SKIPPED(NO_NODE), the others as
// SKIPPED(DEADLINE); as FAILED where it was a retry. It returns how many.
func (t *TaskManager) SweepDeadlines(ctx context.Context) (int, error) {
	now := t.StoreClock.Now()
	closed := 0
	var errs []error
	// What runs stands between them and may be past its deadline for long.
	for _, waiting := range entity.WaitingSpans() {
		rows, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: waiting.Lo, Hi: waiting.Hi, Limit: sweepLimit, DeadlineBefore: now})
		if err != nil {
			return closed, errors.Join(append(errs, err)...)
		}
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
	}
	return closed, errors.Join(errs...)
}

func unplaced(row *entity.Execution) bool { return row.Claim.Queue().Unplaced() }

func (t *TaskManager) skipLate(ctx context.Context, rows []*entity.Execution, reason entity.Reason) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	closer := Closer{Store: t.Store, Places: t.Places, Jobs: t.Jobs, Clock: t.StoreClock}
	closed, effect, err := closer.CloseWaiting(ctx, repository.LaneComplete, rows,
		entity.StatusSkipped, reason, func(e *entity.Execution, now time.Time) bool {
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
