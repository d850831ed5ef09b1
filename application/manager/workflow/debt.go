package workflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
)

// debt is what the end of one fire owes.
type debt struct {
	// todos are its rows; starts is empty where these owe nothing.
	todos  []entity.Todo
	starts []chain.Start
	// size is about how many executions the starts add.
	size int
}

func (d *debt) jobIDs() []string {
	ids := make([]string, len(d.starts))
	for i, s := range d.starts {
		ids[i] = s.JobID
	}
	return ids
}

// key names a debt to those who blame.
func (d *debt) key() string { return d.todos[0].Run }

type fireID struct{ job, key string }

// debts finds what the rows owe: nothing where the execution is gone, or its fire has executions to come. The end of
// the last of these has a row of its own.
func (f *Follower) debts(ctx context.Context, todos []entity.Todo) ([]*debt, error) {
	ids := make([]string, len(todos))
	for i, t := range todos {
		ids[i] = t.Run
	}
	rows, err := f.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d executions that have ended: %w", len(ids), err)
	}
	byID, fires := entity.ByID(rows), map[fireID]*debt{}
	var out []*debt
	for _, t := range todos {
		e := byID[t.Run]
		if e == nil {
			out = append(out, &debt{todos: []entity.Todo{t}})
			continue
		}
		at := fireID{e.JobID, e.FireKey}
		d := fires[at]
		if d == nil {
			if d, err = f.debtOf(ctx, e); err != nil {
				return nil, err
			}
			fires[at] = d
			out = append(out, d)
		}
		d.todos = append(d.todos, t)
	}
	return out, f.measure(ctx, out)
}

func (f *Follower) debtOf(ctx context.Context, e *entity.Execution) (*debt, error) {
	d := &debt{}
	job, err := f.definition(ctx, e)
	if err != nil || job == nil || len(job.Next) == 0 {
		return d, err
	}
	whole := []*entity.Execution{e}
	if e.ShardTotal > 1 {
		if whole, err = f.Executions.OfFire(ctx, e.JobID, e.FireKey); err != nil {
			return nil, fmt.Errorf("read the executions of the fire %s: %w", e.FireKey, err)
		}
	}
	if end, over := chain.EndOf(job, whole); over {
		d.starts = chain.Starts(end)
	}
	return d, nil
}

// definition is that under which the execution was recorded; nil where nobody knows it any more.
func (f *Follower) definition(ctx context.Context, e *entity.Execution) (*entity.Job, error) {
	if job := f.Jobs.Cached(e.JobID, e.JobVersion); job != nil {
		return job, nil
	}
	return repository.VersionOrNil(ctx, f.Versions, e.JobID, e.JobVersion)
}

// measure tells how much each debt starts, and lets the router learn where.
func (f *Follower) measure(ctx context.Context, debts []*debt) error {
	var ids []string
	for _, d := range debts {
		ids = append(ids, d.jobIDs()...)
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	jobs, err := f.Jobs.Load(ctx, slices.Compact(ids))
	if err != nil {
		return fmt.Errorf("read the jobs that are to be started: %w", err)
	}
	all := make([]*entity.Job, 0, len(jobs))
	for _, job := range jobs {
		all = append(all, job)
	}
	f.Admitter.Prepare(ctx, all...)
	for _, d := range debts {
		for _, s := range d.starts {
			d.size++
			if job := jobs[s.JobID]; job != nil {
				d.size += job.ExecutionsPerFire() - 1
			}
		}
	}
	return nil
}
