package follow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// close ends the root as outcome says, in the transaction of any end: its job and its group are locked, their places go
// on, and observers hear of it. The run is marked closed there.
func (f *Follower) close(ctx context.Context, p *passage, outcome func() entity.Outcome) error {
	mark := func(ctx context.Context, tx repository.Tx) error { return f.markClosed(ctx, tx, p) }
	if p.root == nil || p.root.Status.Final() {
		return f.Store.Write(ctx, repository.LaneComplete, "close-run", mark)
	}
	jobs, err := f.Jobs.For(ctx, []*entity.Execution{p.root})
	if err != nil {
		return err
	}
	p.root.Waited = p.next != nil && p.next.Waited
	_, err = f.Ends.Conclude(ctx, []completion.End{{
		Run: entity.Run{Job: entity.JobOf(p.root, jobs), Execution: p.root}, Outcome: outcome(), Also: mark,
	}})
	return err // where the store did not take it, the row of what is owed is there, and the next look decides
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
