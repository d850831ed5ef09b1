// Package follow lets workflow runs go on. A row, stored with the end of a step, holds that its run owes a decision;
// the follower pays it in one transaction with the steps that it starts (docs/workflows.md).
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// maxBytes and maxSteps bound the workflows, and the ids of steps, that a Catalog keeps in memory. The Catalog reads
// again those that do not fit.
const (
	maxBytes = 64 << 20
	maxSteps = 100_000
)

// Workflow is one version of a workflow, ready for decisions. It is immutable but for recorded.
type Workflow struct {
	Job   *entity.Job
	Graph *workflow.Graph
	// steps are the definitions of what the steps do, in their order.
	steps []*entity.Job
	// handedOn says of each step whether another one reads its output.
	handedOn []bool
	// recorded: the store holds the ids of the steps.
	recorded atomic.Bool
}

// Step is the definition of what a step does, and false where the workflow has no such step.
func (w *Workflow) Step(name string) (*entity.Job, bool) {
	i, ok := w.Graph.Step(name)
	if !ok {
		return nil, false
	}
	return w.steps[i], true
}

// stepID is the job of the executions of a step.
func (w *Workflow) stepID(i int) string { return w.steps[i].ID }

// ownID is the id of a step over all runs. Rows that the decision ends carry it, so that a job which a step names hears
// nothing of what did not run.
func (w *Workflow) ownID(i int) string {
	return wf.StepID(w.Job.ID, w.Graph.Definition().Steps[i].Name)
}

type version struct {
	id     string
	number int
}

// Catalog gives the versions of workflows, and the definitions of their steps. Safe for concurrent use.
type Catalog struct {
	// Cached returns the definition of a version that is in memory, or nil.
	Cached   func(id string, version int) *entity.Job
	Versions repository.VersionReader
	Runs     repository.WorkflowRunReader

	mu sync.Mutex
	// workflows take about held bytes.
	workflows map[version]*Workflow
	held      int
	known     map[string]wf.StepRow
}

// Get is a version of a workflow; nil where nobody knows it any more. The error may be an *InvalidError.
func (c *Catalog) Get(ctx context.Context, id string, number int) (*Workflow, error) {
	v := version{id, number}
	c.mu.Lock()
	w := c.workflows[v]
	c.mu.Unlock()
	if w != nil {
		return w, nil
	}
	job := c.Cached(id, number)
	if job == nil {
		var err error
		if job, err = repository.VersionOrNil(ctx, c.Versions, id, number); err != nil || job == nil {
			return nil, err
		}
	}
	w, err := compile(job)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workflows == nil {
		c.workflows = map[version]*Workflow{}
	}
	if former := c.workflows[v]; former != nil {
		return former, nil // read by somebody else meanwhile
	}
	c.held = forget(c.workflows, c.held, maxBytes, (*Workflow).bytes)
	c.workflows[v] = w
	c.held += w.bytes()
	for i, step := range w.Graph.Definition().Steps {
		c.know(wf.StepRow{ID: w.ownID(i), WorkflowID: id, Name: step.Name})
	}
	return w, nil
}

// InvalidError says that a definition cannot be decided by. Saving one is refused; another release may have written it.
type InvalidError struct{ cause error }

// Error implements error.
func (e *InvalidError) Error() string { return "the definition of the workflow: " + e.cause.Error() }

// Unwrap gives the cause.
func (e *InvalidError) Unwrap() error { return e.cause }

func compile(job *entity.Job) (*Workflow, error) {
	def, err := wf.Of(job)
	if err != nil {
		return nil, &InvalidError{err}
	}
	g, err := workflow.NewGraph(def)
	if err != nil {
		return nil, &InvalidError{err}
	}
	w := &Workflow{Job: job, Graph: g, steps: make([]*entity.Job, len(def.Steps)), handedOn: workflow.HandedOn(def)}
	for i := range def.Steps {
		if w.steps[i], err = wf.StepJob(job, &def.Steps[i]); err != nil {
			return nil, &InvalidError{err}
		}
	}
	return w, nil
}

// StepJobs finds the definitions of steps, by the id of the execution. One whose workflow is gone is left out, and one
// whose workflow cannot be read says so: it holds up none of the others.
func (c *Catalog) StepJobs(ctx context.Context, steps []*entity.Execution) (map[string]*entity.Job, error) {
	rows, err := c.rows(ctx, steps)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*entity.Job, len(steps))
	for _, e := range steps {
		row, known := rows[e.JobID]
		if !known {
			continue
		}
		w, err := c.Get(ctx, row.WorkflowID, e.JobVersion)
		if invalid := (*InvalidError)(nil); errors.As(err, &invalid) {
			unread := []entity.Unread{{Field: "the definition of the workflow", Why: invalid.cause.Error()}}
			found[e.ID] = &entity.Job{ID: e.JobID, Version: e.JobVersion, Unread: unread}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the workflow of the step %s: %w", e.ID, err)
		}
		if w == nil {
			continue
		}
		if job, ok := w.Step(row.Name); ok {
			found[e.ID] = job
		}
	}
	return found, nil
}

// rows are those of the steps' ids.
func (c *Catalog) rows(ctx context.Context, steps []*entity.Execution) (map[string]wf.StepRow, error) {
	rows := map[string]wf.StepRow{}
	var missing []string
	c.mu.Lock()
	for _, id := range entity.JobIDsOf(steps) {
		if row, known := c.known[id]; known {
			rows[id] = row
		} else {
			missing = append(missing, id)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return rows, nil
	}
	read, err := c.Runs.WorkflowSteps(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read the steps of workflows: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range read {
		c.know(row)
		rows[row.ID] = row
	}
	return rows, nil
}

// know remembers a step. The caller holds the lock.
func (c *Catalog) know(row wf.StepRow) {
	if c.known == nil {
		c.known = map[string]wf.StepRow{}
	}
	forget(c.known, len(c.known), maxSteps, func(wf.StepRow) int { return 1 })
	c.known[row.ID] = row
}

// bytes is about what the workflow takes: its text, the parts of it that steps keep, and a kilobyte for each step.
func (w *Workflow) bytes() int { return 2*len(w.Job.Data) + len(w.steps)<<10 }

// forget drops any tenth of what is kept where it takes as much as it may, and returns how much is left. To drop all
// would let a node with slightly more workflows read nearly each of them again.
func forget[K comparable, V any](kept map[K]V, held, most int, size func(V) int) int {
	if held < most {
		return held
	}
	for key, value := range kept {
		if held <= most-most/10 {
			break
		}
		delete(kept, key)
		held -= size(value)
	}
	return held
}

// Known says which step an id is of, if this node has met it lately.
func (c *Catalog) Known(id string) (wf.StepRow, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row, known := c.known[id]
	return row, known
}
