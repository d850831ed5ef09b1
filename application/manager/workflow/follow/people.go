package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// maxAsked bounds what an event repeats of the text of an approval, in bytes.
const maxAsked = 500

// standing are the events that the run begins to stand for people: approvals that open, and steps that are held from
// now on.
func (w *writing) standing(p *passage, ballots []wf.Ballot) (events []entity.Event) {
	if w.Readers.Nobody() {
		return nil
	}
	tell := func(kind string, d event.PeopleData) {
		d.WorkflowID, d.RunID = p.run.WorkflowID, p.run.ID
		d.JobName, d.Group, d.Owner = p.flow.Job.Name, p.flow.Job.Group, p.flow.Job.Owner
		events = append(events, event.ForPeople(kind, d, w.Readers, w.now))
	}
	for _, b := range ballots {
		tell(event.TypeApprovalWaiting, event.PeopleData{
			ExecutionID: b.ExecutionID, StepKey: b.StepKey, Until: b.Until, Need: b.Need,
			Text: validation.Text(b.Text, maxAsked),
		})
	}
	for _, i := range p.heldNow() {
		key := wf.Key{Name: p.flow.Graph.Definition().Steps[i].Name, Item: wf.Whole, Generation: p.next.Steps[i].Generation}
		id := p.stepID(key)
		if p.next.Steps[i].Fate == wf.FateInvalid { // it was never started, so that its row is one of the decision
			id = wf.ExecutionID(p.run.ID, p.flow.ownID(i), key)
		}
		tell(event.TypeStepHeld, event.PeopleData{
			ExecutionID: id, StepKey: key.String(), Until: p.next.Steps[i].HeldUntil,
		})
	}
	return events
}

// heldNow are the steps that the decision holds, and that were not held before.
func (p *passage) heldNow() (steps []int) {
	for i := range p.next.Steps {
		after, before := &p.next.Steps[i], &p.before.Steps[i]
		if !after.Held() || after.Owed { // owed: it is told with its row
			continue
		}
		if !before.Held() || before.Owed || before.Generation != after.Generation {
			steps = append(steps, i)
		}
	}
	return steps
}

// Standing knows which workflow runs stand for people still.
type Standing struct {
	Catalog    *Catalog
	Runs       repository.WorkflowRunReader
	Executions repository.ExecutionReader
}

// Over are those of some executions of steps that nobody has to decide about any more. One that is there and waits for
// people is not; neither is a failed one that its run holds.
func (s *Standing) Over(ctx context.Context, executions []string) (map[string]bool, error) {
	rows, err := s.Executions.ByIDs(ctx, executions)
	if err != nil {
		return nil, fmt.Errorf("read %d steps that people decide about: %w", len(executions), err)
	}
	over := make(map[string]bool, len(executions))
	for _, id := range executions {
		over[id] = true // retention was faster
	}
	byRun := map[string][]*entity.Execution{}
	var ids []string
	for _, e := range rows {
		run, _, ok := e.StepOf()
		if !e.Status.Final() {
			over[e.ID] = false
		} else if ok {
			if byRun[run] == nil {
				ids = append(ids, run)
			}
			byRun[run] = append(byRun[run], e)
		}
	}
	if len(ids) == 0 {
		return over, nil
	}
	runs, err := s.Runs.WorkflowRuns(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d workflow runs that stand for people: %w", len(ids), err)
	}
	for _, run := range runs {
		for _, e := range byRun[run.ID] {
			held, err := s.held(ctx, run, e)
			if err != nil {
				return nil, err
			}
			over[e.ID] = !held
		}
	}
	return over, nil
}

// held reports whether a run holds a step that has ended. Where nobody can read that, the run stands until it is
// closed.
func (s *Standing) held(ctx context.Context, run wf.Run, e *entity.Execution) (bool, error) {
	if run.Phase == wf.PhaseClosed {
		return false, nil
	}
	state, err := wf.Decode(run.State)
	if err != nil {
		return true, nil //nolint:nilerr // said above
	}
	flow, err := s.Catalog.Get(ctx, run.WorkflowID, run.Version)
	if invalid := (*InvalidError)(nil); err != nil && !errors.As(err, &invalid) {
		return false, err
	}
	if flow == nil || !state.Fits(flow.Graph.Definition()) {
		return true, nil
	}
	_, step, _ := e.StepOf()
	key, err := wf.ParseKey(step)
	if err != nil {
		return false, nil //nolint:nilerr // no step of the engine has such a key
	}
	i, known := flow.Graph.Step(key.Name)
	return known && state.Steps[i].Held() && state.Steps[i].Generation == key.Generation, nil
}
