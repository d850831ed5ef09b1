package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// askTries bounds how often a word of a person is decided about again because the run changed meanwhile.
const askTries = 5

// Command pauses or resumes a run. A command that the run has followed already changes nothing.
func (f *Follower) Command(ctx context.Context, runID string, command workflow.Command) error {
	return f.ask(ctx, runID, func(p *passage, state *wf.State) error {
		if state.Phase != wf.PhaseOpen && state.Phase != wf.PhasePaused {
			return apperror.Conflict("run_over",
				"the workflow run is %s; only one that is OPEN or PAUSED can be paused or resumed",
				state.Phase)
		}
		p.asked.Command = command
		return nil
	})
}

// Act does a verb on a step that is held, or cancels a map.
func (f *Follower) Act(ctx context.Context, runID, step string, verb workflow.Verb) error {
	return f.ask(ctx, runID, func(p *passage, state *wf.State) error {
		at, known := p.flow.Graph.Step(step)
		if !known {
			return p.flow.Graph.NoStep(step)
		}
		if !slices.Contains(workflow.Verbs(state, at), verb) {
			return apperror.Conflict("step_not_held", "the step %s is not held, or what follows it is decided already; "+
				"retry the workflow run instead", step)
		}
		p.asked.Verbs = []workflow.Asked{{Step: at, Verb: verb}}
		return nil
	})
}

// ask decides with what a person asks, and stores that at once. put says what is asked, or why it cannot be.
func (f *Follower) ask(ctx context.Context, runID string, put func(p *passage, state *wf.State) error) error {
	for range askTries {
		passages, _, err := f.read(ctx, nil, []string{runID})
		if err != nil {
			return err
		}
		if len(passages) == 0 {
			return apperror.NotFound("workflow run", runID)
		}
		p := passages[0]
		if p.flow == nil || len(p.run.State) == 0 {
			return apperror.Conflict("run_not_open", "nothing of the workflow run is decided yet; try again in a moment")
		}
		state, err := wf.Decode(p.run.State)
		if err != nil {
			return apperror.Conflict("run_unreadable", "%s", err)
		}
		if err := put(p, state); err != nil {
			return err
		}
		if err := f.decide(ctx, p); err != nil {
			return err
		}
		if err := f.store(ctx, []*passage{p}); err != nil {
			return err
		}
		if p.stored {
			return f.finish(ctx, p)
		}
	}
	return apperror.Conflict("changed", "the workflow run changed while this was done; try again")
}

// missed are the ends of live steps whose rows were deleted when the run was paused with a problem.
func (f *Follower) missed(ctx context.Context, p *passage, state *wf.State) (ends []workflow.End, err error) {
	keys := workflow.Live(p.flow.Graph, state)
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = p.stepID(key)
	}
	execs, err := f.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d steps that may have ended: %w", len(ids), err)
	}
	found := entity.ByID(execs)
	for i, key := range keys {
		e, err := f.whole(ctx, found[ids[i]])
		if err != nil {
			return nil, err
		}
		if e != nil && e.Status.Final() {
			ends = append(ends, workflow.End{Key: key, Status: e.Status, Reason: e.Reason})
		}
	}
	return ends, nil
}
