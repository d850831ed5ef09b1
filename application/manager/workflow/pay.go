package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// pay starts what is owed, in transactions of bounded size, and returns how many debts are paid. A debt that the store
// refuses holds up none of the others.
func (f *Follower) pay(ctx context.Context, debts []*debt) (paid int, err error) {
	var errs []error
	for len(debts) > 0 {
		part := debts[:chunk(debts)]
		debts = debts[len(part):]
		err := batch.Walk(f.blame, part, (*debt).key, func(part []*debt) error {
			done, err := f.start(ctx, part, "")
			paid += done
			return err
		}, func(d *debt, cause error) error { return f.alone(ctx, d, cause) })
		if errs = append(errs, err); err != nil && batch.Passes(err) {
			break
		}
	}
	return paid, errors.Join(errs...)
}

// chunk is how many debts one transaction pays: at least one.
func chunk(debts []*debt) int {
	starts, size := 0, 0
	for i, d := range debts {
		starts, size = starts+len(d.starts), size+d.size
		if i > 0 && (starts > startsAtOnce || size > executionsAtOnce) {
			return i
		}
	}
	return len(debts)
}

// alone pays a debt that cannot be paid like others: what the store refuses of it is recorded as failed.
func (f *Follower) alone(ctx context.Context, d *debt, cause error) error {
	f.Logger.Error("what follows a run cannot be started as it is; it is recorded as failed", "execution", d.key(),
		"error", cause, "stack", batch.StackOf(cause))
	for i := range d.starts {
		one := &debt{starts: d.starts[i : i+1]}
		_, err := f.start(ctx, []*debt{one}, "")
		if err != nil && !batch.Passes(err) {
			_, err = f.start(ctx, []*debt{one}, validation.Text("the run could not be recorded: "+err.Error(), maxWhy))
		}
		if err != nil {
			return fmt.Errorf("start job %s after run %s: %w", d.starts[i].JobID, d.key(), err)
		}
	}
	_, err := f.start(ctx, []*debt{{todos: d.todos}}, "")
	return err
}

// StartFires records fires that are not there, and drops todos with them, by the transaction that pays a debt. done is
// false where somebody else has locked one of the jobs.
func (f *Follower) StartFires(ctx context.Context, starts []chain.Start, todos []entity.Todo) (done bool, err error) {
	d := &debt{todos: todos, starts: starts}
	f.Admitter.PrepareIDs(ctx, d.jobIDs()...)
	paid, err := f.pay(ctx, []*debt{d})
	return paid == 1, err
}

// maxWhy is the longest reason recorded for a run that is not started, in bytes.
const maxWhy = 500

// start is the transaction that starts what is owed and deletes the rows. Debts of which somebody else has locked a job
// are left out. Where rejected is not empty, it is recorded as the reason why nothing runs.
func (f *Follower) start(ctx context.Context, debts []*debt, rejected string) (paid int, err error) {
	var effect commit.PostCommit
	err = f.Store.Write(ctx, repository.LaneComplete, "follow", func(ctx context.Context, tx repository.Tx) error {
		paid, effect = 0, commit.PostCommit{}
		var ids []string
		for _, d := range debts {
			ids = append(ids, d.jobIDs()...)
		}
		slices.Sort(ids)
		jobs, locked, err := f.Admitter.TryLock(ctx, tx, slices.Compact(ids))
		if err != nil {
			return fmt.Errorf("lock the jobs that are to be started: %w", err)
		}
		free := slices.DeleteFunc(slices.Clone(debts), func(d *debt) bool {
			return slices.ContainsFunc(d.starts, func(s chain.Start) bool { return slices.Contains(locked, s.JobID) })
		})
		effect, err = f.admit(ctx, tx, jobs, free, rejected)
		if err != nil {
			return err
		}
		var todos []entity.Todo
		for _, d := range free {
			todos = append(todos, d.todos...)
		}
		paid = len(free)
		_, err = tx.Todos.DropTodos(ctx, todos)
		return err
	})
	if err != nil {
		return 0, err
	}
	f.Commits.AfterCommit(effect)
	return paid, nil
}

// admit records the fires that are not there yet.
func (f *Follower) admit(ctx context.Context, tx repository.Tx, jobs map[string]*entity.Job, debts []*debt,
	rejected string,
) (commit.PostCommit, error) {
	var starts []chain.Start
	for _, d := range debts {
		starts = append(starts, d.starts...)
	}
	if len(starts) == 0 {
		return commit.PostCommit{}, nil
	}
	first := make([]string, len(starts))
	for i, s := range starts {
		first[i] = s.Fire.FirstID(s.JobID)
	}
	there, err := tx.Executions.Lock(ctx, slices.Sorted(slices.Values(first)))
	if err != nil {
		return commit.PostCommit{}, fmt.Errorf("look for what was started before: %w", err)
	}
	before, byJob := entity.ByID(there), map[string][]chain.Start{}
	var order []string
	for i, s := range starts {
		if before[first[i]] != nil {
			continue
		}
		if _, seen := byJob[s.JobID]; !seen {
			order = append(order, s.JobID)
		}
		byJob[s.JobID] = append(byJob[s.JobID], s)
	}
	slices.Sort(order)
	a, now := admission.Admission{}, f.StoreClock.Now()
	var changed []*entity.Job
	for _, id := range order {
		job := jobs[id]
		if err := f.admitJob(ctx, tx, now, id, job, byJob[id], rejected, &a); err != nil {
			return commit.PostCommit{}, fmt.Errorf("start job %s: %w", id, err)
		}
		if job != nil {
			changed = append(changed, job)
		}
	}
	if len(a.Executions) == 0 {
		return a.PostCommit, nil
	}
	return a.PostCommit, f.Admitter.Record(ctx, tx, now, &a, changed...)
}

// admitJob admits the fires of one locked job; nil is one that was deleted.
func (f *Follower) admitJob(ctx context.Context, tx repository.Tx, now time.Time, id string, job *entity.Job,
	starts []chain.Start, rejected string, a *admission.Admission,
) error {
	if job == nil {
		for _, s := range starts {
			a.Close(gone(id, s.Fire, now))
		}
		return nil
	}
	var fires []entity.Fire
	for _, s := range starts {
		why := s.Invalid
		if s.Skipped != "" {
			a.Close(entity.NewSkipped(job, s.Fire, now, s.Skipped))
			continue
		}
		if rejected != "" {
			a.Close(entity.NewInvalid(job, s.Fire, now, "").Rejected(now, rejected))
			continue
		}
		if u := job.Unreadable(); why == "" && u != "" {
			why = "what the store holds of the job cannot be read: " + u
		}
		if why == "" {
			s.Fire.Params, why = params(job, s.Fire.Params)
		}
		switch {
		case job.Status == entity.JobPaused || job.Status == entity.JobCreated:
			a.Close(entity.NewSkipped(job, s.Fire, now, entity.ReasonPaused))
		case why != "":
			s.Fire.Params = ""
			a.Close(entity.NewInvalid(job, s.Fire, now, validation.Text(why, maxWhy)))
		default:
			fires = append(fires, s.Fire)
		}
	}
	if len(fires) == 0 {
		return nil
	}
	more, err := f.Admitter.AdmitAll(ctx, tx, now, job, fires...)
	if err != nil {
		return err
	}
	a.Add(more)
	return nil
}

// params are those of the fire in the types that the job declares, or what is wrong with them.
func params(job *entity.Job, given string) (typed, why string) {
	typed, wrong := validation.Params(job, given)
	texts := make([]string, len(wrong))
	for i, w := range wrong {
		texts[i] = w.Field + ": " + w.Message
	}
	return typed, strings.Join(texts, "; ")
}

// gone records that a job was deleted before it could be started.
func gone(id string, fire entity.Fire, now time.Time) *entity.Execution {
	e := entity.NewInvalid(&entity.Job{ID: id}, fire, now, "the job was deleted before the end that was to start it")
	e = e.Rejected(now, e.ErrorMessage)
	e.Reason = entity.ReasonDeleted
	return e
}
