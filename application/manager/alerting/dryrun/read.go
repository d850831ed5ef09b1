package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// read fetches the executions of the jobs that the rule sees, planned from so long before
// the range until its end. It reads the newest first, and stops at the bounds.
func (p *past) read(ctx context.Context, before time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.MaxTime/2, errTime) // the rest is for what the rule asks
	defer cancel()
	filters := []repository.ExecutionFilter{{Steps: p.rule.Scope.Steps}}
	if ids := p.rule.Scope.JobIDs; len(ids) > 0 && !p.rule.Scope.Steps { // steps have ids of their own
		filters = filters[:0]
		for _, id := range ids {
			filters = append(filters, repository.ExecutionFilter{JobID: id})
		}
	} else if p.rule.Group != "" {
		filters[0].Groups = []string{p.rule.Group}
	} else if len(p.rule.Scope.Groups) > 0 {
		filters[0].Groups = p.rule.Scope.Groups
	}
	share := MaxExecutions / len(filters)
	var all []*entity.Execution
	for _, f := range filters {
		f.From, f.To = p.report.From.Add(-before), p.report.To
		rows, cut, err := p.pages(ctx, f, share)
		if err != nil {
			return err
		}
		all = append(all, rows...)
		if cut {
			p.cut(rows)
		}
	}
	p.report.Executions = len(all)
	return p.known(p.caller, all) //nolint:contextcheck // the time of the call, not that of this reading
}

// cut notes that the oldest executions were not read.
func (p *past) cut(rows []*entity.Execution) {
	p.report.Truncated = true
	if len(rows) == 0 {
		return
	}
	if first := rows[len(rows)-1].ScheduledTime; first.After(p.report.From) && first.Before(p.report.To) {
		p.report.From = first
	}
}

func (p *past) pages(ctx context.Context, f repository.ExecutionFilter, most int) (
	rows []*entity.Execution, cut bool, err error,
) {
	cursor := ""
	for len(rows) < most {
		part, next, err := p.Runs.List(ctx, f, repository.Page{Limit: min(page, most-len(rows)), Cursor: cursor})
		if err != nil {
			if errors.Is(context.Cause(ctx), errTime) {
				return rows, true, nil
			}
			return nil, false, fmt.Errorf("read executions of a dry run: %w", err)
		}
		rows = append(rows, part...)
		if cursor = next; cursor == "" {
			return rows, false, nil
		}
	}
	return rows, true, nil
}

// known keeps the executions of jobs that the rule sees, in the order of their ends.
func (p *past) known(ctx context.Context, all []*entity.Execution) error {
	var ids []string
	seen := map[string]bool{}
	for _, e := range all {
		if !seen[e.JobID] {
			seen[e.JobID] = true
			ids = append(ids, e.JobID)
		}
	}
	jobs, err := p.Jobs.AlertJobs(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the jobs of a dry run: %w", err)
	}
	p.jobs = map[string]alerting.Job{}
	for id, j := range jobs {
		job := alerting.Job{
			ID: j.ID, StepID: j.StepID, Step: j.Step, Name: j.Name, Group: j.Group, Owner: j.Owner, Labels: j.Labels,
		}
		if job.SeenBy(p.rule) {
			p.jobs[id] = job
		}
	}
	for _, e := range all {
		if _, ok := p.jobs[e.JobID]; ok {
			p.execs = append(p.execs, e)
		}
	}
	slices.SortStableFunc(p.execs, func(a, b *entity.Execution) int {
		return cmp.Or(ended(a).Compare(ended(b)), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// ended is when the end of an execution was stored; the zero time for one that goes on.
func ended(e *entity.Execution) time.Time {
	switch {
	case !e.Status.Final():
		return time.Time{}
	case e.UpdateTime.IsZero():
		return e.EndTime
	}
	return e.UpdateTime
}

// inside reports whether a moment lies in the range that was looked at.
func (p *past) inside(at time.Time) bool { return !at.Before(p.report.From) && at.Before(p.report.To) }
