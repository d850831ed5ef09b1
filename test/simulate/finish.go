package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// The bounds of the end.
const (
	healed  = 45 * time.Second
	quiet   = 10 * time.Minute
	counted = 2 * time.Minute
)

// finish lets the nodes work undisturbed, stops the planning, waits until nothing is live, and reads everything.
func (w *world) finish(ctx context.Context) error {
	time.Sleep(healed)
	random := w.stream(ofNodes + 1)
	_, l := w.any(random)
	if l == nil {
		return errors.New("no node is up at the end")
	}
	if _, err := l.Groups.Resume(ctx, bulk); err != nil {
		return err
	}
	for _, j := range w.jobs {
		if j.Deleted.IsZero() && j.paused {
			if _, err := l.Jobs.Resume(ctx, j.ID); err != nil {
				return fmt.Errorf("resume %q: %w", j.Name, err)
			}
		}
	}
	time.Sleep(5 * time.Second)
	for _, j := range w.jobs {
		if !j.Deleted.IsZero() || j.definition.Schedule.Kind == "NONE" {
			continue
		}
		as, err := l.Jobs.Pause(ctx, j.ID, entity.Pause{})
		if err != nil {
			return fmt.Errorf("pause %q: %w", j.Name, err)
		}
		j.Until = as.PausedAt.Add(-time.Duration(as.Schedule.JitterMs) * ms) // what was not due belongs to the pause
	}
	if err := w.drained(ctx, l); err != nil {
		return err
	}
	return w.collect(ctx, l)
}

// drained waits until nothing is live; the oracle finds what is live at the bound.
func (w *world) drained(ctx context.Context, l *life) error {
	for until := time.Now().Add(quiet); time.Now().Before(until); time.Sleep(time.Second) {
		live := 0
		for _, s := range []entity.Status{entity.StatusWaiting, entity.StatusRunning} {
			rows, _, err := l.Executions.List(ctx, repository.ExecutionFilter{Status: s}, repository.Page{Limit: 1})
			if err != nil {
				return err
			}
			live += len(rows)
		}
		if live == 0 {
			return nil
		}
	}
	return nil
}
