package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Starts records fires of jobs, once each, by the transaction of a trigger.
type Starts interface {
	// StartFires records those that are not there, and drops todos with them. done is false where somebody else has locked
	// one of the jobs.
	StartFires(ctx context.Context, starts []chain.Start, todos []entity.Todo) (done bool, err error)
}

// startJobs starts the jobs that steps name. Each has a row until it is recorded, which no other transaction drops.
func (f *Follower) startJobs(ctx context.Context, p *passage) error {
	var errs []error
	for _, t := range p.todos {
		step, ok := wf.StartedStep(t.Item)
		if !ok {
			continue
		}
		key, err := wf.ParseKey(step)
		if err != nil {
			errs = append(errs, f.forget(ctx, []entity.Todo{t}))
			continue
		}
		start, err := f.startOf(ctx, p, key)
		if err == nil {
			var done bool
			if done, err = f.Starts.StartFires(ctx, []chain.Start{start}, []entity.Todo{t}); !done {
				p.cut = true // the next look tries again
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// startOf is the fire of a job that a step names. The steps that its parameters read are final.
func (f *Follower) startOf(ctx context.Context, p *passage, key wf.Key) (chain.Start, error) {
	i, _ := p.flow.Graph.Step(key.Name)
	at, _ := identity.TimeOf(p.id()) // ids of executions are made by identity
	now := f.StoreClock.Now()
	s := chain.Start{JobID: p.flow.stepID(i), Fire: entity.Fire{
		Key: identity.StepKey(p.id(), key.String()), ScheduledTime: now, DueTime: now, Trigger: entity.TriggerDependency,
		Computed: true, MadeAt: at, Parent: p.parent(),
	}}
	if p.root != nil {
		s.Fire.ScheduledTime = p.root.ScheduledTime
	}
	if p.origin() != p.id() || key.Generation > 1 {
		first := key
		first.Generation = 1
		begun, _ := identity.TimeOf(p.origin())
		s.Fire.Origin = entity.Origin{Key: identity.StepKey(p.origin(), first.String()), At: begun}
	}
	if p.next.Phase == wf.PhaseCancelling && !p.flow.Graph.Definition().Steps[i].Finally {
		s.Skipped = entity.ReasonRunCancelled
		return s, nil
	}
	given := p.flow.Graph.Definition().Steps[i].Job.Params
	if len(given) == 0 || p.root == nil {
		return s, nil
	}
	values, err := p.view.valuesOf(ctx, p.next, p.flow.Job, given)
	if err != nil {
		return s, err
	}
	filled, wrong := placeholder.FillAll(given, values)
	if s.Fire.Params = filled; wrong != nil {
		s.Fire.Params, s.Invalid = "", fmt.Sprintf("job.params of the step %s: %s", key.Name, wrong)
	}
	return s, nil
}

// whole is the end of all shards of the job that a step names, as one; nil while one of them is not final.
func (f *Follower) whole(ctx context.Context, e *entity.Execution) (*entity.Execution, error) {
	if e == nil || e.Inline() || e.ShardTotal <= 1 {
		return e, nil
	}
	rows, err := f.Executions.OfFire(ctx, e.JobID, e.FireKey)
	if err != nil {
		return nil, fmt.Errorf("read the executions of the fire %s: %w", e.FireKey, err)
	}
	folded, states := *e, make([]entity.Status, len(rows))
	for i, row := range rows {
		states[i] = row.Status
	}
	if folded.Status = entity.Fold(states); folded.Status != e.Status {
		folded.Reason = entity.ReasonNone
	}
	if folded.Status == "" {
		return nil, nil
	}
	return &folded, nil
}

// fires are all executions of steps: of the jobs that they name, each shard.
func (f *Follower) fires(ctx context.Context, execs []*entity.Execution) (all []*entity.Execution, err error) {
	for _, e := range execs {
		if e.Inline() || e.ShardTotal <= 1 {
			all = append(all, e)
			continue
		}
		rows, err := f.Executions.OfFire(ctx, e.JobID, e.FireKey)
		if err != nil {
			return nil, fmt.Errorf("read the executions of the fire %s: %w", e.FireKey, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}
