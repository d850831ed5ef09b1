package follow

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// stop ends live steps, each as a cancel of it would: what waits ends at once, what runs without a node too, and
// holders are asked to stop the others. A step that changes meanwhile is met by the next look: the row of the cancel
// stays.
func (f *Follower) stop(ctx context.Context, p *passage) error {
	ids := make([]string, len(p.decision.Cancels))
	for i, key := range p.decision.Cancels {
		ids[i] = p.stepID(key)
	}
	execs, err := f.Executions.ByIDs(ctx, ids)
	if err != nil {
		return fmt.Errorf("read %d steps: %w", len(ids), err)
	}
	if execs, err = f.fires(ctx, execs); err != nil {
		return err
	}
	reason := entity.ReasonRunCancelled
	if p.next.Cause == wf.CauseStopped {
		reason = entity.ReasonRunStopped
	}
	return f.stopLive(ctx, execs, reason)
}

// stopLive stops those of the executions that are live.
func (f *Follower) stopLive(ctx context.Context, execs []*entity.Execution, reason entity.Reason) error {
	var waiting, detached, running []*entity.Execution
	for _, e := range execs {
		switch {
		case e.Status == entity.StatusWaiting:
			waiting = append(waiting, e)
		case e.Detached():
			detached = append(detached, e)
		case e.Status == entity.StatusRunning && !e.CancelRequested:
			running = append(running, e)
		}
	}
	if err := f.stopWaiting(ctx, waiting, reason); err != nil {
		return err
	}
	if err := f.stopDetached(ctx, detached, reason); err != nil {
		return err
	}
	return f.askToStop(ctx, running, reason)
}

func (f *Follower) stopWaiting(ctx context.Context, waiting []*entity.Execution, reason entity.Reason) error {
	if len(waiting) == 0 {
		return nil
	}
	_, closed, err := f.Closer.CloseWaiting(ctx, repository.LaneComplete, waiting,
		func(e *entity.Execution, now time.Time) error { return e.Cancel(reason, now) },
		func(*entity.Execution, time.Time) bool { return true })
	if err == nil {
		f.Commits.AfterCommit(closed)
	}
	return err
}

func (f *Follower) stopDetached(ctx context.Context, detached []*entity.Execution, reason entity.Reason) error {
	if len(detached) == 0 {
		return nil
	}
	jobs, err := f.Jobs.For(ctx, detached)
	if err != nil {
		return err
	}
	ends := make([]completion.End, len(detached))
	for i, e := range detached {
		ends[i] = completion.End{
			Run: entity.Run{Job: entity.JobOf(e, jobs), Execution: e},
			Outcome: entity.Outcome{
				Status: entity.StatusCancelled, Reason: reason, Progress: e.Progress, Checkpoint: e.Checkpoint,
			},
		}
	}
	_, err = f.Ends.Conclude(ctx, ends)
	return err
}

func (f *Follower) askToStop(ctx context.Context, running []*entity.Execution, reason entity.Reason) error {
	if len(running) == 0 {
		return nil
	}
	var stopping []*entity.Execution
	err := f.Store.Write(ctx, repository.LaneComplete, "stop-steps", func(ctx context.Context, tx repository.Tx) error {
		stopping = nil
		rows, err := tx.Executions.TryLock(ctx, entity.IDsOf(running))
		if err != nil {
			return err
		}
		for _, e := range rows {
			if e.Status != entity.StatusRunning || e.Detached() || e.CancelRequested {
				continue
			}
			if err := e.RequestCancel(reason, f.StoreClock.Now()); err != nil {
				return err
			}
			stopping = append(stopping, e)
		}
		if err := tx.Todos.AddTodos(ctx, wf.CancelTodos(stopping, f.StoreClock.Now())); err != nil {
			return err
		}
		return tx.Executions.AskToStop(ctx, stopping)
	})
	if err == nil {
		f.Commits.AfterCommit(commit.PostCommit{Stopping: stopping})
	}
	return err
}
