package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// closing is a run that ends, and what its root comes to, if it is there.
type closing struct {
	*passage
	outcome func() entity.Outcome
}

// close ends roots in the transactions of any ends: their jobs and groups are locked, their places go on, and observers
// hear of them. The runs are marked closed there. An end that the store does not take is owed still, and the next
// look decides.
func (f *Follower) close(ctx context.Context, runs ...closing) error {
	var errs []error
	var roots []*entity.Execution
	var open []closing
	for _, c := range runs {
		if c.root != nil && !c.root.Status.Final() {
			roots, open = append(roots, c.root), append(open, c)
			continue
		}
		err := f.Store.Write(ctx, repository.LaneComplete, "close-run", func(ctx context.Context, tx repository.Tx) error {
			return f.markClosed(ctx, tx, c.passage)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("close the workflow run %s: %w", c.id(), err))
		}
	}
	if len(open) == 0 {
		return errors.Join(errs...)
	}
	jobs, err := f.Jobs.For(ctx, roots)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	ends := make([]completion.End, 0, len(open))
	for _, c := range open {
		c.root.Waited = c.next != nil && c.next.Waited
		ends = append(ends, completion.End{
			Run: entity.Run{Job: entity.JobOf(c.root, jobs), Execution: c.root}, Outcome: c.outcome(),
			Also: func(ctx context.Context, tx repository.Tx) error { return f.markClosed(ctx, tx, c.passage) },
		})
	}
	_, err = f.Ends.Conclude(ctx, ends)
	return errors.Join(append(errs, err)...)
}

func (f *Follower) markClosed(ctx context.Context, tx repository.Tx, p *passage) error {
	seqs, err := tx.WorkflowRuns.LockRuns(ctx, []string{p.id()})
	if err != nil {
		return fmt.Errorf("lock the workflow run %s: %w", p.id(), err)
	}
	run := p.run
	run.Seq = seqs[p.id()]
	run.Phase, run.Problem, run.Wake = wf.PhaseClosed, "", time.Time{}
	if p.next != nil {
		run.State = workflow.Close(p.next).Encode()
	}
	if err := tx.WorkflowRuns.SaveRuns(ctx, []wf.Run{run}, f.StoreClock.Now()); err != nil {
		return fmt.Errorf("close the workflow run %s: %w", p.id(), err)
	}
	now := f.StoreClock.Now()
	_, err = tx.Todos.DropTodos(ctx, append(p.todos, wf.Todo(p.id(), wf.OwesClose, now),
		wf.Todo(p.id(), wf.OwesStop, now)))
	return err
}

// outcome is what the root comes to by its steps.
func (p *passage) outcome() entity.Outcome {
	over := *p.decision.Close
	o := entity.Outcome{Status: over.Status, Reason: over.Reason, NoRetry: true, Progress: p.root.Progress}
	if over.Status == entity.StatusSuccess {
		o.Progress = 100
	}
	if over.Status == entity.StatusCancelled && o.Reason == entity.ReasonNone {
		o.Reason = p.root.Reason
	}
	o.Message = p.failures()
	return o
}

// maxNamed is how many failed steps a message names.
const maxNamed = 10

// failures names the steps that failed and are not tolerated.
func (p *passage) failures() string {
	var named []string
	count := 0
	for i := range p.next.Steps {
		fate := p.next.Steps[i].Fate
		if fate.Class() != wf.ClassFailure || p.flow.Graph.Definition().Steps[i].Tolerate {
			continue
		}
		if count++; count <= maxNamed {
			named = append(named, p.flow.Graph.Definition().Steps[i].Name+" "+string(fate.Status()))
		}
	}
	switch {
	case count == 0:
		return ""
	case count > maxNamed:
		return fmt.Sprintf("steps failed: %s, and %d more", strings.Join(named, ", "), count-maxNamed)
	}
	return "steps failed: " + strings.Join(named, ", ")
}
