package planning

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// firstHold is the wait of an alert whose messages cannot be planned. The wait doubles up to lastHold; after givesUp
	// the plan is DEAD, until the alert changes.
	firstHold = time.Minute
	lastHold  = time.Hour
	givesUp   = 24 * time.Hour
)

// hold lets an alert wait whose messages cannot be planned, so that the messages of other alerts can be.
func (r *Planner) hold(ctx context.Context, a *alert.Alert, cause error) error {
	known, err := r.Asides.AsidesOf(ctx, entity.AsidePlan, []string{a.ID})
	if err != nil {
		return fmt.Errorf("read since when alert %s cannot be planned: %w", a.ID, err)
	}
	now := r.Clock.Now()
	aside := entity.SetAside{
		Kind: entity.AsidePlan, ID: a.ID, Job: a.JobID, Rule: a.RuleID, State: entity.AsideWaiting, Reason: cause.Error(),
		Time: now,
	}
	tried := time.Duration(0)
	if former, held := known[a.ID]; held {
		tried = max(now.Sub(former.Time), 0)
	}
	next := now.Add(min(firstHold+tried, lastHold)) // 1, 2, 4 … minutes
	if tried >= givesUp {
		aside.State, next = entity.AsideDead, time.Time{}
	}
	err = r.Store.Write(ctx, repository.LaneAPI, "alert-hold", func(ctx context.Context, tx repository.Tx) error {
		if ok, err := tx.Alerts.PlanAlert(ctx, a.ID, a.Seq, a.NotifyDue, next); err != nil || !ok {
			return err
		}
		return tx.Records.SetAside(ctx, aside)
	})
	if err != nil {
		return fmt.Errorf("let alert %s wait, whose messages cannot be planned: %w", a.ID, err)
	}
	r.Aside.Note(aside)
	return nil
}
