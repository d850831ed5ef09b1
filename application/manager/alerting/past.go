package alerting

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// runsOfJob bounds the executions that a rule reads of one job.
	runsOfJob = 1000
	// pageRuns bounds what it reads of them at a time.
	pageRuns = 200
)

// history reads the newest runs of jobs, as far back as rules ask for them, once for all events of a turn.
type history struct {
	runs Runs
	jobs map[string]*past
}

// past is what has been read of one job.
type past struct {
	execs []*entity.Execution
	runs  []alerting.Run
	// whole: no older execution is there, or none is read any more.
	whole bool
}

// before returns the runs of a job up to an end, the newest first, where a rule asks for them.
func (h history) before(ctx context.Context, rule *alert.Rule, job repository.AlertJob, end alerting.End,
) ([]alerting.Run, error) {
	if alerting.NeedsRuns(rule) == 0 || !alerting.Failure(end.Status) || !rule.Enabled ||
		!rule.Sees(job.ID, job.Group, job.Labels) {
		return nil, nil
	}
	p := h.jobs[job.ID]
	if p == nil {
		p = &past{}
		h.jobs[job.ID] = p
	}
	for {
		if runs := p.upTo(end); p.whole || alerting.EnoughRuns(rule, end, runs) {
			return runs, nil
		}
		if err := h.read(ctx, job.ID, p, alerting.NeedsRuns(rule)); err != nil {
			return nil, err
		}
	}
}

// read adds a page of older executions. The first one is twice what a rule needs: a run that
// ended lately may have begun before some others.
func (h history) read(ctx context.Context, jobID string, p *past, need int) error {
	oldest, limit := "", min(2*need+2, pageRuns)
	if n := len(p.execs); n > 0 {
		oldest, limit = p.execs[n-1].ID, min(pageRuns, runsOfJob-n)
	}
	page, err := h.runs.Outcomes(ctx, jobID, oldest, limit)
	if err != nil {
		return fmt.Errorf("read the newest runs of job %s: %w", jobID, err)
	}
	p.execs = append(p.execs, page...)
	p.runs = alerting.RunsOf(p.execs)
	p.whole = len(page) < limit || len(p.execs) >= runsOfJob
	return nil
}

// upTo leaves out what ended after an end: that is not its past, however late the rules are
// asked. The row of its own run may be some milliseconds younger than its event.
func (p *past) upTo(end alerting.End) []alerting.Run {
	at := slices.IndexFunc(p.runs, func(r alerting.Run) bool {
		return r.ExecutionID == end.ExecutionID || !r.At.After(end.At)
	})
	if at < 0 {
		return nil
	}
	return p.runs[at:]
}
