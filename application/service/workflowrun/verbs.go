package workflowrun

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Cancel asks for a run to be cancelled. Steps that run last run all the same.
func (s *Service) Cancel(ctx context.Context, id string) error {
	if _, err := s.look(ctx, id); err != nil {
		return err
	}
	return s.Ender.Cancel(ctx, id)
}

// Pause makes a run decide nothing until it is resumed.
func (s *Service) Pause(ctx context.Context, id string) error {
	return s.command(ctx, id, workflow.Pause)
}

// Resume lets a paused run go on.
func (s *Service) Resume(ctx context.Context, id string) error {
	return s.command(ctx, id, workflow.Resume)
}

func (s *Service) command(ctx context.Context, id string, command workflow.Command) error {
	l, err := s.look(ctx, id)
	if err != nil {
		return err
	}
	if l.Problem != "" && l.state == nil {
		return l.broken()
	}
	return broken(s.Engine.Command(ctx, id, command))
}

// broken says that a run cannot be decided about.
func (l *look) broken() error {
	return apperror.Conflict("run_broken", "the workflow run cannot go on, and can only be cancelled: %s", l.Problem)
}

// broken makes a conflict of what the decision cannot go by: a caller can change nothing about it.
func broken(err error) error {
	var invalid *follow.InvalidError
	var poison *repository.PoisonError
	if errors.As(err, &invalid) || errors.As(err, &poison) || errors.Is(err, wf.ErrState) {
		return apperror.Conflict("run_broken", "the workflow run cannot go on, and can only be cancelled: %s", err)
	}
	return err
}

// target is a step, or an item of one, that a verb is about.
type target struct {
	*look
	step int
	key  wf.Key
	// rows are the executions of the latest generation: none where nothing is stored yet.
	rows []*entity.Execution
}

func (t *target) state() *wf.StepState { return &t.look.state.Steps[t.step] }

func (s *Service) target(ctx context.Context, id, step string) (*target, error) {
	l, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	key, err := wf.ParseKey(step)
	if err != nil || l.flow == nil {
		return nil, apperror.NotFound("step", step)
	}
	i, known := l.flow.Graph.Step(key.Name)
	if !known {
		return nil, l.flow.Graph.NoStep(step)
	}
	if l.state == nil {
		if l.Problem != "" {
			return nil, l.broken()
		}
		return nil, apperror.Conflict("run_not_open", "nothing of the workflow run is decided yet; try again in a moment")
	}
	t := &target{look: l, step: i, key: key}
	latest := t.state().Generation
	if t.key.Generation == 1 {
		t.key.Generation = latest
	}
	switch items := t.state().Items; {
	case t.key.Generation > latest, key.Item != wf.Whole && (items == nil || key.Item >= items.Total):
		return nil, apperror.NotFound("step", step)
	case t.key.Generation < latest:
		return nil, apperror.Conflict("step_repeated", "the step was repeated; the latest generation is %d", latest)
	}
	found, err := s.at(ctx, l, []place{{i, t.key}})
	t.rows = convert.All(found, func(e StepExecution) *entity.Execution { return e.Execution })
	return t, err
}

// CancelStep stops a step that is live, or one item of it.
func (s *Service) CancelStep(ctx context.Context, id, step string) error {
	t, err := s.target(ctx, id, step)
	if err != nil {
		return err
	}
	if err := t.live("cancelled"); err != nil {
		return err
	}
	var last error
	for _, row := range t.rows {
		if !row.Status.Final() {
			// Of several shards one may end meanwhile.
			if err := s.Ender.Cancel(ctx, row.ID); err != nil && (len(t.rows) == 1 ||
				!apperror.Is(err, apperror.KindConflict)) {
				last = err
			}
		}
	}
	return last
}

// SkipStep ends a step that waits, or is held, without a run of it.
func (s *Service) SkipStep(ctx context.Context, id, step string) error {
	t, err := s.target(ctx, id, step)
	if err != nil {
		return err
	}
	if t.key.Item == wf.Whole && t.state().Held() {
		return broken(s.Engine.Act(ctx, id, t.key.Name, workflow.Skip))
	}
	if err := t.live("skipped"); err != nil {
		return err
	}
	return s.Ender.SkipWaiting(ctx, entity.IDsOf(t.rows))
}

// RepeatStep runs a held step again, as its next generation.
func (s *Service) RepeatStep(ctx context.Context, id, step string) error {
	return s.act(ctx, id, step, workflow.Repeat)
}

// SucceedStep calls a held step a success.
func (s *Service) SucceedStep(ctx context.Context, id, step string) error {
	return s.act(ctx, id, step, workflow.Succeed)
}

func (s *Service) act(ctx context.Context, id, step string, verb workflow.Verb) error {
	t, err := s.target(ctx, id, step)
	if err != nil {
		return err
	}
	if t.key.Item != wf.Whole {
		return apperror.Conflict("step_item", "items are not treated one by one; name the step %s, which repeats the items "+
			"that failed", t.key.Name)
	}
	return broken(s.Engine.Act(ctx, id, t.key.Name, verb))
}

// live says why a step cannot be stopped or skipped.
func (t *target) live(what string) error {
	state := t.state()
	switch {
	case t.look.state.Phase == wf.PhaseClosed:
		return apperror.Conflict("run_over", "the workflow run is over")
	case state.Held():
		return apperror.Conflict("step_held", "the step is held since it failed; skip it, repeat it or call it a success")
	case state.Fate == wf.FateOpen:
		return apperror.Conflict("step_not_decided", "nothing of the step is decided, so that it cannot be %s; it can as "+
			"soon as it waits for its start", what)
	case state.Fate.Final():
		return apperror.Conflict("already_final", "the step is already %s", state.Fate.Status())
	case t.key.Item != wf.Whole && state.Items.Final.Has(t.key.Item):
		return apperror.Conflict("already_final", "the item has ended already")
	case len(t.rows) == 0:
		return apperror.Conflict("step_not_started", "it has not begun, so that it cannot be %s; try again later", what)
	}
	for _, row := range t.rows {
		if !row.Status.Final() {
			return nil
		}
	}
	return apperror.Conflict("already_final", "it is already %s", t.rows[0].Status)
}
