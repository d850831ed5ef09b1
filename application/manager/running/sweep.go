package running

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
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
				if ctx.Err() != nil {
					return
				}
				t.Logger.Error("parked runs could not be made ready", "error", err)
				next = t.StoreClock.Now().Add(time.Second)
			}
		}
		wait := unparkSweep
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(t.StoreClock.Now()), 0))
		}
		timer.Reset(wait)
	}
}

// Unpark makes the parked runs ready whose moment has come, and returns when
// the next one comes; zero when none is parked.
func (t *TaskManager) Unpark(ctx context.Context) (next time.Time, err error) {
	now := t.StoreClock.Now()
	end := entity.ParkedKey(now.Add(time.Millisecond))
	for {
		rows, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: entity.ClaimParkedPrefix, Hi: end, Limit: sweepLimit})
		if err != nil {
			return time.Time{}, err
		}
		if len(rows) > 0 {
			if err := t.makeReady(ctx, rows, now); err != nil {
				return time.Time{}, err
			}
		}
		if len(rows) < sweepLimit {
			break
		}
	}
	first, err := t.Claims.First(ctx, end, "C")
	if err != nil {
		return time.Time{}, err
	}
	next, _ = first.ParkedUntil()
	return next, nil
}

func (t *TaskManager) makeReady(ctx context.Context, rows []*entity.Execution, now time.Time) error {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	slices.Sort(ids)
	ready := 0
	err := t.Store.Write(ctx, repository.LaneComplete, "unpark", func(ctx context.Context, tx repository.Tx) error {
		ready = 0
		held, err := tx.Executions.Lock(ctx, ids)
		if err != nil {
			return err
		}
		for _, row := range held {
			until, parked := row.Claim.ParkedUntil()
			if row.Status != entity.StatusWaiting || !parked || until.After(now) {
				continue
			}
			row.Claim = entity.ReadyKey(row.Priority, t.Fair.Fair(row.JobID, until, now))
			row.UpdateTime = until
			if err := tx.Executions.Update(ctx, row, entity.StatusWaiting, row.Token); err != nil {
				return fmt.Errorf("unpark run %s: %w", row.ID, err)
			}
			ready++
		}
		return nil
	})
	if err == nil && ready > 0 {
		t.Notice(coordination.Effect{Ready: ready})
	}
	return err
}

// SweepDeadlines ends waiting runs whose start deadline has passed as
// SKIPPED(DEADLINE) (engine rule 17). It returns how many.
func (t *TaskManager) SweepDeadlines(ctx context.Context) (int, error) {
	rows, err := t.Claims.Range(ctx, repository.ClaimRange{
		Lo: entity.ClaimParkedPrefix, Hi: "X", Limit: sweepLimit, DeadlineBefore: t.StoreClock.Now(),
	})
	waiting := slices.DeleteFunc(rows, func(e *entity.Execution) bool { return e.Status != entity.StatusWaiting })
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	closer := Closer{Store: t.Store, Places: t.Places, Jobs: t.Jobs, Clock: t.StoreClock}
	closed, effect, err := closer.CloseWaiting(ctx, repository.LaneComplete, waiting,
		entity.StatusSkipped, entity.ReasonDeadline, func(e *entity.Execution, now time.Time) bool {
			return !e.StartDeadline.IsZero() && e.StartDeadline.Before(now)
		})
	if err != nil {
		return 0, fmt.Errorf("end runs past their start deadline: %w", err)
	}
	t.Notice(effect)
	for range closed {
		t.Metrics.Ended(entity.StatusSkipped, entity.ReasonDeadline, 0, false)
	}
	return len(closed), nil
}

// SweepPlaces repairs what a lost transaction could have left: FIXED_DELAY
// jobs that nobody will re-arm, and queued fires whose job has room (engine
// rules 7 and 15). It returns how many jobs it touched.
func (t *TaskManager) SweepPlaces(ctx context.Context) (int, error) {
	ids, err := t.Plans.Unarmed(ctx, sweepLimit)
	if err != nil {
		return 0, err
	}
	queued, err := t.Claims.Range(ctx, repository.ClaimRange{Lo: entity.ClaimQueuedPrefix, Hi: "R", Limit: sweepLimit})
	if err != nil {
		return 0, err
	}
	for _, row := range queued {
		ids = append(ids, row.JobID)
	}
	slices.Sort(ids)
	touched := 0
	for _, id := range slices.Compact(ids) {
		var effect coordination.Effect
		err := t.Store.Write(ctx, repository.LaneComplete, "repair", func(ctx context.Context, tx repository.Tx) error {
			effect = coordination.Effect{}
			return t.repair(ctx, tx, id, &effect)
		})
		if err != nil {
			return touched, fmt.Errorf("repair the places of job %s: %w", id, err)
		}
		if len(effect.Rearmed) > 0 || effect.Ready > 0 {
			touched++
		}
		t.Notice(effect)
	}
	return touched, nil
}

func (t *TaskManager) repair(ctx context.Context, tx repository.Tx, id string, effect *coordination.Effect) error {
	jobs, err := t.Places.Lock(ctx, tx, []string{id})
	if err != nil || jobs[id] == nil {
		return err
	}
	promoted, err := t.Places.Promote(ctx, tx, t.StoreClock.Now(), jobs[id])
	if err != nil {
		return err
	}
	effect.Add(promoted)
	return t.Places.ArmIfIdle(ctx, tx, jobs[id], t.StoreClock.Now(), effect)
}
