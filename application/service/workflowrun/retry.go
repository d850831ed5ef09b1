package workflowrun

import (
	"context"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// PlannedStep is a step of the run that is repeated, with what the retry does with it.
type PlannedStep struct {
	Step
	workflow.Repetition
}

// RetryPlan is what a retry of a run would do with its steps, in the order of the definition.
type RetryPlan struct {
	Run
	Steps []PlannedStep
	// Repeated and Reused count the steps.
	Repeated, Reused int
}

// PlanRetry says what a retry would do, and starts nothing. from are names of steps to repeat whatever they came to.
func (s *Service) PlanRetry(ctx context.Context, id string, from []string) (*RetryPlan, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	does, err := l.repetitions(from)
	if err != nil {
		return nil, err
	}
	if _, err := s.formerRows(ctx, l, does); err != nil {
		return nil, err
	}
	steps, err := s.steps(ctx, l)
	if err != nil {
		return nil, err
	}
	plan := &RetryPlan{Run: l.Run, Steps: make([]PlannedStep, len(steps))}
	for i := range steps {
		if plan.Steps[i] = (PlannedStep{steps[i], does[i]}); does[i].Repeat {
			plan.Repeated++
		}
	}
	plan.Reused = len(steps) - plan.Repeated
	return plan, nil
}

// Retry makes a new run of what PlanRetry says, and answers its id.
func (s *Service) Retry(ctx context.Context, id string, from []string, by entity.Actor) (string, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return "", err
	}
	if _, err := l.repetitions(from); err != nil {
		return "", err
	}
	return s.Repeater.RetryFrom(ctx, id, from, by)
}

// repetitions is what a retry does with each step, or says why the run cannot be retried so.
func (l *look) repetitions(from []string) ([]workflow.Repetition, error) {
	switch {
	case !l.Root.Status.Final() || l.Phase != wf.PhaseClosed:
		return nil, apperror.Conflict("not_final", "the workflow run is still %s; cancel it first, or repeat the step that "+
			"is held", l.Phase)
	case l.flow == nil:
		return nil, apperror.Conflict("version_gone", "version %d of the workflow, to which the run kept, is not stored any "+
			"more; trigger the workflow instead", l.Version)
	case l.state == nil && len(l.State) > 0:
		return nil, apperror.Conflict("run_broken", "the state of the workflow run cannot be read, so that nothing of it "+
			"can be reused; trigger the workflow instead")
	case l.Root.Status == entity.StatusSuccess && len(from) == 0:
		return nil, apperror.Conflict("run_succeeded", "the workflow run succeeded, and nothing of it failed; name the "+
			"steps to repeat in from, of POST /workflow-runs/{id}/retry or of workflow runs retry --from")
	}
	return workflow.Repetitions(l.flow.Graph, l.known(), from)
}

// formerRows are the executions of steps that are not repeated, by position. One that succeeded must be there.
func (s *Service) formerRows(ctx context.Context, l *look, does []workflow.Repetition) (
	map[int]*entity.Execution, error,
) {
	state := l.known()
	var ids []string
	for i := range does {
		if !does[i].Repeat {
			ids = append(ids, l.flow.EndID(l.ID, i, &state.Steps[i]))
		}
	}
	rows, err := s.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the results of %d steps: %w", len(ids), err)
	}
	byID, found := entity.ByID(rows), map[int]*entity.Execution{}
	var gone []string
	for i := range does {
		if does[i].Repeat {
			continue
		}
		if row := byID[l.flow.EndID(l.ID, i, &state.Steps[i])]; row != nil {
			found[i] = row
		} else if state.Steps[i].Fate.Class() == wf.ClassSuccess {
			gone = append(gone, l.flow.Graph.Definition().Steps[i].Name)
		}
	}
	if len(gone) > 0 {
		return nil, apperror.Conflict("result_gone", "the results of some steps are not stored any more; repeat these, too, "+
			"by naming them in from: %s", strings.Join(gone, ", "))
	}
	return found, nil
}

// Reuse is what the repetition of an execution takes over, if that is the root of a workflow run: the version of the
// workflow, and rows of the steps that are not repeated, which also stores with the new root. Other executions, and
// roots that never opened, have none: version is zero.
func (s *Service) Reuse(ctx context.Context, row *entity.Execution, from []string) (
	version int, also func(ctx context.Context, tx repository.Tx, made []*entity.Execution) error, err error,
) {
	l, err := s.look(ctx, row.ID)
	if apperror.Is(err, apperror.KindNotFound) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	job, err := s.Jobs.Get(ctx, l.WorkflowID)
	if err != nil {
		return 0, nil, err
	}
	if job.Type != entity.JobWorkflow {
		return 0, nil, apperror.Conflict("not_a_workflow", "the job is of the type %s now, and has no steps", job.Type)
	}
	does, err := l.repetitions(from)
	if err != nil {
		return 0, nil, err
	}
	former, err := s.formerRows(ctx, l, does)
	if err != nil {
		return 0, nil, err
	}
	return l.Version, func(ctx context.Context, tx repository.Tx, made []*entity.Execution) error {
		if made[0].Status.Final() {
			return nil // its job does not run it
		}
		now, state := s.Clock.Now(), l.known()
		var rows []*entity.Execution
		for i := range does {
			if !does[i].Repeat {
				rows = append(rows, l.flow.Reused(made[0], i, &state.Steps[i], former[i], now))
			}
		}
		if err := insert(ctx, tx, rows); err != nil {
			return fmt.Errorf("store %d reused steps: %w", len(rows), err)
		}
		return s.Recorder.RecordEnds(ctx, tx, now, rows)
	}, nil
}

// bytesAtOnce bounds the results of one statement, beside the last row.
const bytesAtOnce = 1 << 20

// insert stores rows whose results may be long.
func insert(ctx context.Context, tx repository.Tx, rows []*entity.Execution) error {
	from, size := 0, 0
	for i, e := range rows {
		if size += len(e.Result); size < bytesAtOnce && i < len(rows)-1 {
			continue
		}
		if err := tx.Executions.Insert(ctx, rows[from:i+1]); err != nil {
			return err
		}
		from, size = i+1, 0
	}
	return nil
}
