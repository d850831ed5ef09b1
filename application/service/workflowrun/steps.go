package workflowrun

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// NotDecided is the state of a step that has no execution yet. All other states are those of executions.
const NotDecided = "NOT_DECIDED"

// Step is where a step of a run stands.
type Step struct {
	Name string
	Kind wf.Kind
	// State is that of its execution, or NotDecided.
	State  string
	Reason entity.Reason
	// HeldUntil is when a held step is not held any more; zero for others.
	HeldUntil time.Time
	// ExecutionID is that of the latest generation; empty where there is none. Of a job with shards, it is the first one.
	ExecutionID string
	Start, End  time.Time
	Generation  int
	// Items are those of a map that was started, else nil.
	Items *workflow.Counts
}

// Detail is a run with its steps, in the order of the definition; none where nobody has that any more.
type Detail struct {
	Run
	Steps []Step
}

// Get is one run.
func (s *Service) Get(ctx context.Context, id string) (*Detail, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	steps, err := s.steps(ctx, l)
	return &Detail{Run: l.Run, Steps: steps}, err
}

func (s *Service) steps(ctx context.Context, l *look) ([]Step, error) {
	if l.flow == nil {
		return []Step{}, nil
	}
	def, state := l.flow.Graph.Definition(), l.known()
	rows, err := s.rows(ctx, l)
	if err != nil {
		return nil, err
	}
	out := make([]Step, len(def.Steps))
	for i := range def.Steps {
		out[i] = stepOf(&def.Steps[i], &state.Steps[i], rows[i])
	}
	return out, nil
}

// known is the state of a run; that of its beginning where nothing is decided.
func (l *look) known() *wf.State {
	if l.state != nil {
		return l.state
	}
	return wf.NewState(l.flow.Graph.Definition(), l.CreateTime)
}

// Standing is where a run stands, its steps by their positions; nothing of them where nobody has its definition.
func (s *Service) Standing(ctx context.Context, id string) (
	run wf.Run, graph *workflow.Graph, state *wf.State, rows []*entity.Execution, err error,
) {
	l, err := s.look(ctx, id)
	if err != nil {
		return run, nil, nil, nil, err
	}
	if l.flow == nil {
		return l.Run.Run, nil, nil, nil, nil
	}
	rows, err = s.rows(ctx, l)
	return l.Run.Run, l.flow.Graph, l.known(), rows, err
}

// rows are the executions of steps by their positions, of the latest generation; nil where there is none.
func (s *Service) rows(ctx context.Context, l *look) ([]*entity.Execution, error) {
	def, state := l.flow.Graph.Definition(), l.known()
	var ids []string
	for i := range def.Steps {
		if state.Steps[i].Fate != wf.FateOpen {
			ids = append(ids, l.executions(i, whole(state, i, def.Steps[i].Name))...)
		}
	}
	rows, err := s.Executions.Standings(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := entity.ByID(rows)
	out := make([]*entity.Execution, len(def.Steps))
	for i := range def.Steps {
		for _, id := range l.executions(i, whole(state, i, def.Steps[i].Name)) {
			if found[id] != nil {
				out[i] = found[id]
			}
		}
	}
	return out, nil
}

// whole is the key of a step in its latest generation.
func whole(state *wf.State, i int, name string) wf.Key {
	return wf.Key{Name: name, Item: wf.Whole, Generation: state.Steps[i].Generation}
}

// executions are the ids under which an execution of a step may stand: that of the job which it names, and that of the
// step where nothing of it ran.
func (l *look) executions(i int, key wf.Key) []string {
	own := wf.StepID(l.WorkflowID, key.Name)
	ids := []string{wf.ExecutionID(l.ID, own, key)}
	if job := l.jobOf(i); job != own {
		ids = append(ids, wf.ExecutionID(l.ID, job, key))
	}
	return ids
}

// jobOf is the job of the executions of a step that runs.
func (l *look) jobOf(i int) string {
	job, _ := l.flow.Step(l.flow.Graph.Definition().Steps[i].Name) // the step is one of the definition
	return job.ID
}

// stepOf joins what the decision knows of a step and its execution, which may not be stored yet.
func stepOf(def *wf.Step, state *wf.StepState, row *entity.Execution) Step {
	step := Step{
		Name: def.Name, Kind: def.Kind(), State: NotDecided, Generation: state.Generation, HeldUntil: state.HeldUntil,
	}
	if state.Items != nil {
		c := workflow.CountsOf(state.Items)
		step.Items = &c
	}
	if state.Fate == wf.FateOpen {
		return step
	}
	status := entity.StatusWaiting
	if row != nil {
		step.ExecutionID, step.Start, step.End, step.Reason = row.ID, row.StartTime, row.EndTime, row.Reason
		status = row.Status
	}
	switch final := state.Fate.Status(); {
	case final != "" && final != status: // of several shards, or not stored yet
		status, step.Reason = final, state.Fate.Reason()
	case final == "" && status.Final(): // other shards are live
		status, step.Reason, step.End = entity.StatusRunning, "", time.Time{}
	}
	step.State = string(status)
	return step
}
