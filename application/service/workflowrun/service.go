// Package workflowrun shows and steers workflow runs: their steps, why these came to where they stand, and what people
// ask of them.
package workflowrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Engine decides about runs, on any node.
type Engine interface {
	// Command pauses or resumes a run.
	Command(ctx context.Context, runID string, command workflow.Command) error
	// Act does a verb on a step that is held.
	Act(ctx context.Context, runID, step string, verb workflow.Verb) error
}

// Ender ends executions.
type Ender interface {
	// Cancel ends one, or asks its holder to.
	Cancel(ctx context.Context, id string) error
	// SkipWaiting ends those that wait, without a run; none where one of them has begun.
	SkipWaiting(ctx context.Context, ids []string) error
}

// Repeater makes executions again as new ones.
type Repeater interface {
	// RetryFrom repeats the root of a workflow run, and of its steps at least those that are named.
	RetryFrom(ctx context.Context, id string, from []string, by entity.Actor) (string, error)
}

// Recorder records ends in the transaction that makes them.
type Recorder interface {
	RecordEnds(ctx context.Context, tx repository.Tx, now time.Time, ended []*entity.Execution) error
}

// Reader reads rows of workflow runs.
type Reader interface {
	repository.WorkflowRunReader
	repository.WorkflowRunLister
}

// Deps are the parts of a Service.
type Deps struct {
	Runs       Reader
	Executions repository.ExecutionReader
	Jobs       repository.JobReader
	// Catalog gives the versions of workflows.
	Catalog interface {
		Get(ctx context.Context, id string, number int) (*follow.Workflow, error)
	}
	Engine   Engine
	Ender    Ender
	Repeater Repeater
	Recorder Recorder
	Clock    clock.StoreClock
}

// Service shows and steers workflow runs. Safe for concurrent use.
type Service struct{ Deps }

// New wires the parts.
func New(d Deps) *Service { return &Service{d} }

// Counts says where the steps of a run stand. Each step is in one of them, beside Total.
type Counts struct {
	Total, Success, Failed, Skipped, Live, Waiting, Held int
}

// Run is a workflow run as lists show it.
type Run struct {
	wf.Run
	Root     *entity.Execution
	Workflow repository.JobName
	Counts   Counts
}

// List is a page of workflow runs, newest first.
func (s *Service) List(ctx context.Context, f repository.WorkflowRunFilter, p repository.Page) ([]Run, string, error) {
	ids, next, err := s.Runs.WorkflowRunIDs(ctx, f, p)
	if err != nil || len(ids) == 0 {
		return nil, next, err
	}
	rows, err := s.Runs.WorkflowRuns(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	roots, err := s.Executions.Standings(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	titles, err := s.Jobs.Titles(ctx, convert.All(rows, func(r wf.Run) string { return r.WorkflowID }))
	if err != nil {
		return nil, "", err
	}
	byID, rootOf := make(map[string]wf.Run, len(rows)), entity.ByID(roots)
	for _, r := range rows {
		byID[r.ID] = r
	}
	var out []Run
	for _, id := range ids {
		row, there := byID[id]
		if root := rootOf[id]; there && root != nil { // retention may have deleted it meanwhile
			run := Run{Run: row, Root: root, Workflow: titles[row.WorkflowID]}
			if state, err := wf.Decode(row.State); err == nil {
				run.Counts = countsOf(state)
			}
			out = append(out, run)
		}
	}
	return out, next, nil
}

// look is one run with its definition and state.
type look struct {
	Run
	// flow is nil where nobody has a definition to go by, state where nothing is decided, or cannot be read.
	flow  *follow.Workflow
	state *wf.State
}

func (s *Service) look(ctx context.Context, id string) (*look, error) {
	rows, err := s.Runs.WorkflowRuns(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	roots, err := s.Executions.ByIDs(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || len(roots) == 0 {
		return nil, apperror.NotFound("workflow run", id)
	}
	l := &look{Run: Run{Run: rows[0], Root: roots[0]}}
	titles, err := s.Jobs.Titles(ctx, []string{l.WorkflowID})
	if err != nil {
		return nil, err
	}
	l.Workflow = titles[l.WorkflowID]
	var invalid *follow.InvalidError
	if l.flow, err = s.Catalog.Get(ctx, l.WorkflowID, l.Version); errors.As(err, &invalid) {
		l.flow, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the definition of the workflow run %s: %w", id, err)
	}
	switch state, err := wf.Decode(l.State); {
	case err == nil && (l.flow == nil || state.Fits(l.flow.Graph.Definition())):
		l.state, l.Counts = state, countsOf(state)
	case len(l.State) == 0 && l.flow != nil:
		l.Counts = countsOf(wf.NewState(l.flow.Graph.Definition(), l.CreateTime))
	}
	return l, nil
}

func countsOf(s *wf.State) (c Counts) {
	c.Total = len(s.Steps)
	for i := range s.Steps {
		step := &s.Steps[i]
		switch {
		case step.Held():
			c.Held++
		case step.Fate == wf.FateOpen:
			c.Waiting++
		case step.Fate == wf.FateLive:
			c.Live++
		case step.Fate.Status() == entity.StatusSuccess:
			c.Success++
		case step.Fate.Status() == entity.StatusSkipped:
			c.Skipped++
		default:
			c.Failed++
		}
	}
	return c
}
