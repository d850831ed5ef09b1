package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// store is the follow transaction: runs that are as they were read get their new state, their rows are inserted, and
// what they owed is deleted. The number of its statements does not depend on the number of edges.
func (f *Follower) store(ctx context.Context, part []*passage) error {
	var jobs []*entity.Job
	for _, p := range part {
		for _, row := range p.rows {
			if job, starts := p.starts(row); starts {
				jobs = append(jobs, job)
			}
		}
	}
	f.Admitter.Prepare(ctx, jobs...)
	starts := f.reserve(part)
	defer starts.Close()
	var w *writing
	err := f.Store.Write(ctx, repository.LaneComplete, "follow-run", func(ctx context.Context, tx repository.Tx) error {
		starts.Again()
		w = &writing{Follower: f, now: f.StoreClock.Now(), starts: starts}
		return w.write(ctx, tx, part)
	})
	if errors.Is(err, repository.ErrCommitUnknown) {
		err = errors.Join(err, f.reread(ctx, starts, w))
		f.Commits.AfterCommit(w.done)
		return err
	}
	if err != nil {
		return err
	}
	starts.Start(w.direct)
	for _, p := range w.taken {
		p.stored = true
		if len(p.run.State) == 0 {
			p.flow.recorded.Store(true)
		}
	}
	f.Commits.AfterCommit(w.done)
	return nil
}

// writing is one run of the follow transaction's function.
type writing struct {
	*Follower
	now   time.Time
	taken []*passage
	done  commit.PostCommit
	// starts has slots for direct, which are the steps that start on this node.
	starts *direct.Batch
	direct []entity.Run
}

func (w *writing) write(ctx context.Context, tx repository.Tx, part []*passage) error {
	ids := make([]string, len(part))
	for i, p := range part {
		ids[i] = p.id()
	}
	seqs, err := tx.WorkflowRuns.LockRuns(ctx, ids)
	if err != nil {
		return fmt.Errorf("lock %d workflow runs: %w", len(ids), err)
	}
	var steps []wf.StepRow
	var execs, finals []*entity.Execution
	var runs []wf.Run
	var add, drop []entity.Todo
	var ballots []wf.Ballot
	var events []entity.Event
	for _, p := range part {
		if seq, there := seqs[p.id()]; !there || seq != p.run.Seq {
			continue // somebody else has decided about it; the next look reads it again
		}
		w.taken = append(w.taken, p)
		if len(p.run.State) == 0 && !p.flow.recorded.Load() {
			steps = append(steps, p.flow.stepRows()...)
		}
		ended, err := w.finishMaps(ctx, tx.Executions, p)
		if err != nil {
			return err
		}
		finals = append(finals, ended...)
		opened := len(ballots)
		for i, row := range p.rows {
			if row.Kind == workflow.RowFinish {
				continue
			}
			if row.Kind == workflow.RowStart && p.flow.Graph.Definition().Steps[row.Step].Job != nil {
				add = append(add, wf.Todo(p.id(), wf.OwesStart(row.Key.String()), w.now))
				continue
			}
			e := p.execution(row, w.now)
			w.done.Schedule(p.moments[row.Step])
			if execs = append(execs, e); e.Status.Final() {
				finals = append(finals, e)
			} else if b, opens := p.ballot(row.Step, e); opens {
				ballots = append(ballots, b)
			} else if job, starts := p.starts(row); starts && p.direct[i] && w.starts.Take(job, e, w.now) {
				w.direct = append(w.direct, entity.Run{Job: job, Execution: e})
			} else if starts {
				w.Admitter.MakeReady(job, e, 0, w.now, &w.done)
			}
		}
		events = append(events, w.standing(p, ballots[opened:])...)
		if run, changed := p.changed(); changed {
			runs = append(runs, run)
		}
		add = append(add, p.owed(w.now)...)
		drop = append(drop, p.paid()...)
	}
	w.starts.Expect()
	if err := w.insert(ctx, tx, steps, execs, finals); err != nil {
		return err
	}
	if err := tx.Approvals.AddApprovals(ctx, ballots); err != nil {
		return fmt.Errorf("open %d approvals: %w", len(ballots), err)
	}
	if len(events) > 0 {
		if err := tx.Records.AddEvents(ctx, events); err != nil {
			return fmt.Errorf("tell of %d steps that wait for people: %w", len(events), err)
		}
	}
	if err := tx.WorkflowRuns.SaveRuns(ctx, runs, w.now); err != nil {
		return fmt.Errorf("store the state of %d workflow runs: %w", len(runs), err)
	}
	if err := tx.Todos.AddTodos(ctx, add); err != nil {
		return fmt.Errorf("store what %d workflow runs owe: %w", len(runs), err)
	}
	_, err = tx.Todos.DropTodos(ctx, drop)
	return err
}

func (w *writing) insert(ctx context.Context, tx repository.Tx, steps []wf.StepRow, execs, finals []*entity.Execution,
) error {
	if err := tx.WorkflowRuns.AddSteps(ctx, steps); err != nil {
		return fmt.Errorf("store the ids of %d steps: %w", len(steps), err)
	}
	slices.SortFunc(execs, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	if len(execs) > 0 {
		if err := tx.Executions.Insert(ctx, execs); err != nil {
			return fmt.Errorf("insert %d steps: %w", len(execs), err)
		}
	}
	return w.Admitter.RecordEnds(ctx, tx, w.now, finals)
}

// stepRows are the ids of all steps of the workflow.
func (w *Workflow) stepRows() []wf.StepRow {
	rows := make([]wf.StepRow, len(w.steps))
	for i := range w.steps {
		rows[i] = wf.StepRow{ID: w.ownID(i), WorkflowID: w.Job.ID, Name: w.Graph.Definition().Steps[i].Name}
	}
	return rows
}

// execution is the row of a step: it waits for its start, or is born final.
func (p *passage) execution(row workflow.Row, now time.Time) *entity.Execution {
	job, id := p.flow.steps[row.Step], p.flow.ownID(row.Step)
	e := &entity.Execution{
		ID: wf.ExecutionID(p.run.ID, id, row.Key), JobID: id,
		FireKey: identity.StepKey(p.run.ID, row.Key.String()), DueTime: now, Trigger: entity.TriggerDependency,
		ShardTotal: 1, JobVersion: p.run.Version, Priority: job.Priority, Status: entity.StatusWaiting, CreateTime: now,
		UpdateTime: now,
	}
	if p.root != nil {
		e.ScheduledTime, e.Priority = p.root.ScheduledTime, job.Priority
	}
	if row.Kind == workflow.RowStart {
		e.Parent = p.parent()
	}
	first := row.Key
	first.Generation = 1
	if origin := wf.ExecutionID(p.origin(), id, first); origin != e.ID {
		e.RootID = origin // repeated by hand it is the same work
	}
	switch {
	case row.Kind == workflow.RowMap:
		e.Status, e.StartTime, e.Claim, e.Attempt, e.Token = entity.StatusRunning, now, entity.OpenKey(), 1, 1
	case row.Kind == workflow.RowFinal:
		e.Status, e.Reason, e.EndTime, e.Decided = row.Status, row.Reason, now, true
		e.ErrorMessage = validation.Text(row.Message, wf.MaxProblem)
	case p.openings[row.Step] != nil:
		p.openings[row.Step].open(e, now)
	case !p.moments[row.Step].IsZero():
		e.DueTime = p.moments[row.Step]
		e.WaitUntil(e.DueTime, false)
	case job.StartDeadlineSec > 0:
		e.StartDeadline = now.Add(time.Duration(job.StartDeadlineSec) * time.Second)
	}
	return e
}

// changed is the row of the run after the decision, and whether that is another one.
func (p *passage) changed() (wf.Run, bool) {
	run := p.run
	p.next.Waited = p.next.Waited || p.next.Stands(p.flow.Graph.Definition())
	run.State, run.Phase, run.Wake = p.next.Encode(), p.next.Phase, p.decision.Wake
	if run.Phase != wf.PhasePaused {
		run.Problem = ""
	}
	return run, !bytes.Equal(run.State, p.run.State) || !run.Wake.Equal(p.run.Wake) || run.Problem != p.run.Problem
}

// owed is what the run owes after the decision.
func (p *passage) owed(now time.Time) (todos []entity.Todo) {
	if p.closes && !p.owes(wf.OwesClose) {
		todos = append(todos, wf.Todo(p.id(), wf.OwesClose, now))
	}
	if len(p.decision.Cancels) > 0 && !p.owes(wf.OwesStop) {
		todos = append(todos, wf.Todo(p.id(), wf.OwesStop, now))
	}
	return todos
}

// paid are the rows of the run that the decision has done. A run that is cut keeps all of them.
func (p *passage) paid() (todos []entity.Todo) {
	for _, t := range p.todos {
		_, starts := wf.StartedStep(t.Item)
		switch {
		case starts, p.cut, t.Item == wf.OwesClose && p.closes, t.Item == wf.OwesStop && len(p.decision.Cancels) > 0:
		default:
			todos = append(todos, t)
		}
	}
	return todos
}

// forget deletes rows of runs that do not exist.
func (f *Follower) forget(ctx context.Context, todos []entity.Todo) error {
	if len(todos) == 0 {
		return nil
	}
	return f.Store.Write(ctx, repository.LaneComplete, "follow-none", func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Todos.DropTodos(ctx, todos)
		return err
	})
}

// pause lets a run stand that cannot go on, with the reason, until somebody cancels it. Its ends are stored: a later
// decision reads them.
func (f *Follower) pause(ctx context.Context, p *passage, cause error) error {
	f.Logger.Error("a workflow run cannot go on, and is paused", "run", p.id(), "workflow", p.run.WorkflowID,
		"error", cause)
	return f.Store.Write(ctx, repository.LaneComplete, "pause-run", func(ctx context.Context, tx repository.Tx) error {
		seqs, err := tx.WorkflowRuns.LockRuns(ctx, []string{p.id()})
		if seq, there := seqs[p.id()]; err != nil || !there || seq != p.run.Seq {
			return err
		}
		run := p.run
		run.Problem, run.Wake, run.Phase = validation.Text(cause.Error(), wf.MaxProblem), time.Time{}, wf.PhasePaused
		if state, err := wf.Decode(run.State); err == nil && state.Phase == wf.PhaseOpen {
			state.Phase, state.Waited = wf.PhasePaused, true
			run.State = state.Encode()
		}
		if err := tx.WorkflowRuns.SaveRuns(ctx, []wf.Run{run}, f.StoreClock.Now()); err != nil {
			return err
		}
		_, err = tx.Todos.DropTodos(ctx, p.todos)
		return err
	})
}
