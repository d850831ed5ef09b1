package follow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// passage is one run on its way through one look.
type passage struct {
	run   wf.Run
	root  *entity.Execution
	todos []entity.Todo
	// asked is what a person asks of the run.
	asked workflow.Input
	// ends are the executions of steps that a row says have ended, by id.
	ends map[string]*entity.Execution
	flow *Workflow
	// broken says why there is no definition to go by.
	broken error
	view   *view

	decision workflow.Decision
	// rows are those of the decision that one transaction stores, and next the state with them. before is the one that
	// it decided by, which stays as it is.
	rows         []workflow.Row
	before, next *wf.State
	// cut: rows are left for another transaction. closes: every step is final and stored.
	cut, closes bool
	// direct are those of the rows that this node has slots for.
	direct map[int]bool
	// moments are those until which steps wait that start now, by step.
	moments map[int]time.Time
	// gone: it opens now, and its workflow is deleted.
	gone bool
	// openings are the approvals that open now, by step.
	openings map[int]*opening
	// stored: the transaction was committed, and the run was as it was read.
	stored bool
}

func (p *passage) id() string { return p.run.ID }

// owes reports whether one of the rows has that item.
func (p *passage) owes(item string) bool {
	return slices.ContainsFunc(p.todos, func(t entity.Todo) bool { return t.Item == item })
}

// read reads the runs of the rows and the ones whose moment has come, with their roots and the ends that rows name.
// left says that there are more runs than one look takes.
func (f *Follower) read(ctx context.Context, todos []entity.Todo, due []string) (out []*passage, left bool, err error) {
	byRun := map[string][]entity.Todo{}
	ids := slices.Clone(due)
	for _, t := range todos {
		if byRun[t.Run] == nil {
			if len(ids) == runsAtOnce {
				left = true
				continue
			}
			ids = append(ids, t.Run)
		}
		byRun[t.Run] = append(byRun[t.Run], t)
	}
	runs, err := f.Runs.WorkflowRuns(ctx, ids)
	if err != nil {
		return nil, false, fmt.Errorf("read %d workflow runs: %w", len(ids), err)
	}
	roots, err := f.Executions.WithParents(ctx, ids)
	if err != nil {
		return nil, false, fmt.Errorf("read the roots of %d workflow runs: %w", len(ids), err)
	}
	byID := entity.ByID(roots)
	gone, err := f.deleted(ctx, runs, byID)
	if err != nil {
		return nil, false, err
	}
	var ended []string
	for _, run := range runs {
		p := &passage{run: run, root: byID[run.ID], todos: byRun[run.ID], ends: map[string]*entity.Execution{}}
		delete(byRun, run.ID)
		p.gone = gone[run.ID]
		if p.flow, p.broken = f.Catalog.Get(ctx, run.WorkflowID, run.Version); p.broken != nil && batch.Passes(p.broken) {
			return nil, false, p.broken
		}
		p.view = &view{read: f.Executions, runID: run.ID, flow: p.flow, root: p.root}
		for _, t := range p.todos {
			if id, ok := p.endOf(t); ok {
				p.ends[id] = nil
				ended = append(ended, id)
			}
		}
		out = append(out, p)
	}
	if err := f.forget(ctx, slices.Concat(slices.Collect(maps.Values(byRun))...)); err != nil {
		return nil, false, err
	}
	if len(ended) == 0 {
		return out, left, nil
	}
	execs, err := f.Executions.ByIDs(ctx, ended)
	if err != nil {
		return nil, false, fmt.Errorf("read %d steps that have ended: %w", len(ended), err)
	}
	found := entity.ByID(execs)
	for _, p := range out {
		for id := range p.ends {
			if p.ends[id], err = f.whole(ctx, found[id]); err != nil {
				return nil, false, err
			}
		}
	}
	return out, left, nil
}

// deleted are the runs that open now and whose workflow is deleted already: endRuns has not met them.
func (f *Follower) deleted(ctx context.Context, runs []wf.Run, roots map[string]*entity.Execution) (
	map[string]bool, error,
) {
	var opening []*entity.Execution
	for _, run := range runs {
		if root := roots[run.ID]; len(run.State) == 0 && root != nil {
			opening = append(opening, root)
		}
	}
	if len(opening) == 0 {
		return nil, nil
	}
	jobs, err := f.Jobs.For(ctx, opening)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, root := range opening {
		gone[root.ID] = jobs.Of(root) == nil
	}
	return gone, nil
}

// endOf is the execution that a row says has ended.
func (p *passage) endOf(t entity.Todo) (id string, ok bool) {
	step, ok := wf.EndedStep(t.Item)
	if !ok {
		return "", false
	}
	key, err := wf.ParseKey(step)
	if err != nil {
		return "", false
	}
	if p.flow == nil {
		return "", false
	}
	i, known := p.flow.Graph.Step(key.Name)
	return wf.ExecutionID(p.run.ID, p.flow.stepID(i), key), known
}

// origin is the first of the runs that repeat one another: their steps have the idempotency keys of its steps.
func (p *passage) origin() string {
	if p.root == nil {
		return p.id()
	}
	return p.root.IdempotencyKey()
}

// parent is the span that asks for the steps: the attempt that opened the run.
func (p *passage) parent() entity.TraceContext {
	if p.root == nil {
		return ""
	}
	return entity.TraceContext(p.root.TraceParent())
}

// stepID is the id of an execution of the run.
func (p *passage) stepID(key wf.Key) string {
	i, _ := p.flow.Graph.Step(key.Name) // the decision names steps of the definition
	return wf.ExecutionID(p.run.ID, p.flow.stepID(i), key)
}

// decide reads the definition and asks the decision.
func (f *Follower) decide(ctx context.Context, p *passage) (err error) {
	if p.broken != nil {
		return p.broken
	}
	if p.flow == nil {
		return errGone
	}
	now := f.StoreClock.Now()
	state := wf.NewState(p.flow.Graph.Definition(), now)
	if len(p.run.State) > 0 {
		if state, err = wf.Decode(p.run.State); err != nil {
			return err
		}
	} else if err = f.takeOver(ctx, p, state); err != nil {
		return err
	}
	if p.before = state; !state.Fits(p.flow.Graph.Definition()) {
		return wf.ErrState
	}
	in := p.asked
	if in.Now = now; in.Command == "" {
		in.Command = p.command()
	}
	if p.run.Problem != "" {
		if in.Ends, err = f.missed(ctx, p, state); err != nil {
			return err
		}
	}
	for _, t := range p.todos {
		id, ok := p.endOf(t)
		if e := p.ends[id]; ok && e != nil && e.Status.Final() {
			_, step, _ := e.StepOf()
			key, _ := wf.ParseKey(step) // endOf has read it
			in.Ends = append(in.Ends, workflow.End{Key: key, Status: e.Status, Reason: e.Reason})
		} else if ok && e != nil && e.Inline() && e.Open() && e.CancelRequested {
			_, step, _ := e.StepOf()
			if at, known := p.flow.Graph.Step(step); known {
				in.Verbs = append(in.Verbs, workflow.Asked{Step: at, Verb: workflow.CancelItems})
			}
		}
	}
	p.decision, err = workflow.Resolve(p.flow.Graph, state, in, func(after *wf.State, asks []workflow.Ask) (
		map[int]workflow.Value, error,
	) {
		return f.evaluate(ctx, p, after, asks)
	})
	if err != nil {
		return err
	}
	p.rows, p.next = p.decision.Take(stepsAtOnce)
	for _, row := range p.rows {
		if row.Kind == workflow.RowFinish {
			if _, err = p.view.resultsOf(ctx, p.next, row.Step); err != nil {
				return err
			}
		}
	}
	if p.moments, err = f.moments(ctx, p, now); err != nil {
		return err
	}
	if p.openings, err = f.openings(ctx, p, now); err != nil {
		return err
	}
	p.cut = len(p.rows) < len(p.decision.Rows)
	p.closes = p.decision.Closes(p.rows)
	return nil
}

// errGone pauses a run of which nobody has the definition any more.
var errGone = errors.New("the version of the workflow that the run keeps to does not exist any more; cancel the run")

// command is what the rows, and the root, ask of the run.
func (p *passage) command() workflow.Command {
	switch {
	case p.root == nil || p.root.Status.Final():
		return workflow.Delete // its outcome is recorded already; nothing of it may go on
	case p.gone, p.owes(wf.OwesDelete):
		return workflow.Delete
	case !p.owes(wf.OwesCancel):
		return ""
	case p.root.Reason == entity.ReasonDeleted:
		return workflow.Delete
	}
	return workflow.Cancel
}
