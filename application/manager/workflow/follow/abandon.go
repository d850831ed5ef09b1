package follow

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// stuck is for a run that cannot be decided about: it ends if that is wanted, and is paused else.
func (f *Follower) stuck(ctx context.Context, p *passage, cause error) error {
	if p.root == nil || p.root.Status.Final() || p.root.CancelRequested || p.owes(wf.OwesCancel) ||
		p.owes(wf.OwesDelete) {
		if err := f.abandon(ctx, p, cause); err == nil || batch.Passes(err) {
			return err
		}
	}
	return f.pause(ctx, p, cause)
}

// abandon ends a run without a decision. The root ends when no step is live any more; until then the rows of what the
// run owes stay, and the next look asks again.
func (f *Follower) abandon(ctx context.Context, p *passage, cause error) error {
	stop, live, err := f.liveSteps(ctx, p.id())
	if err != nil {
		return fmt.Errorf("find the live steps of the workflow run %s: %w", p.id(), err)
	}
	if live {
		return f.stopFound(ctx, stop)
	}
	if p.run.Phase != wf.PhaseClosed {
		f.Logger.Error("a workflow run that cannot go on ends without a decision", "run", p.id(), "workflow",
			p.run.WorkflowID, "error", cause)
	}
	if state, err := wf.Decode(p.run.State); err == nil {
		p.next = state
	}
	return f.close(ctx, closing{p, func() entity.Outcome {
		return entity.Outcome{
			Status: entity.StatusCancelled, Reason: p.root.Reason, NoRetry: true, Progress: p.root.Progress,
			Message: validation.Text("the workflow run could not go on: "+cause.Error(), maxWhy),
		}
	}})
}

// maxWhy bounds what the root says of a run that was ended without a decision, in bytes.
const maxWhy = 500

// stopFound stops live steps whose definition nobody has. A map has nothing that runs but its items: its row ends here.
func (f *Follower) stopFound(ctx context.Context, steps []*entity.Execution) error {
	maps, others := []*entity.Execution{}, []*entity.Execution{}
	for _, e := range steps {
		if e.Inline() && e.Open() {
			maps = append(maps, e)
		} else {
			others = append(others, e)
		}
	}
	if err := f.stopDetached(ctx, maps, entity.ReasonRunCancelled); err != nil {
		return err
	}
	return f.stopLive(ctx, others, entity.ReasonRunCancelled)
}

// liveSteps finds steps of a run that are not final without its definition: their ids begin with the moment of the
// root's. No more is read than what is live, or was made in that millisecond. stop are those that nobody has stopped
// yet, as many as one look stops; live says that there is any.
func (f *Follower) liveSteps(ctx context.Context, runID string) (stop []*entity.Execution, live bool, err error) {
	at, _ := identity.TimeOf(runID) // ids of executions are made by identity
	var ids []string
	for _, status := range []entity.Status{entity.StatusWaiting, entity.StatusRunning} {
		filter := repository.ExecutionFilter{Status: status, From: at, To: at.Add(time.Millisecond), Steps: true}
		page := repository.Page{Limit: stepsAtOnce}
		for more := true; more && len(ids) < stepsAtOnce; more = page.Cursor != "" {
			var rows []*entity.Execution
			if rows, page.Cursor, err = f.Executions.List(ctx, filter, page); err != nil {
				return nil, false, err
			}
			for _, e := range rows {
				if run, _, ok := e.StepOf(); ok && run == runID {
					live = true
					if !e.CancelRequested || e.Detached() || e.Inline() && e.Open() {
						ids = append(ids, e.ID)
					}
				}
			}
		}
	}
	stop, err = f.Executions.ByIDs(ctx, ids)
	return stop, live, err
}
