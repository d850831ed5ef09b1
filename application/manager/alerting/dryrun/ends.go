package dryrun

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// history is what a job has done, as far as it was read.
type history struct {
	// runs are the newest first.
	runs  []alerting.Run
	execs []*entity.Execution
}

func (p *past) histories() map[string]*history {
	out := map[string]*history{}
	for _, e := range p.execs {
		h := out[e.JobID]
		if h == nil {
			h = &history{}
			out[e.JobID] = h
		}
		h.execs = append(h.execs, e)
	}
	for _, h := range out {
		h.runs = alerting.RunsOf(h.execs)
	}
	return out
}

// until are the runs that had ended by a moment, the newest first.
func (h *history) until(at time.Time) []alerting.Run {
	i, _ := slices.BinarySearchFunc(h.runs, at, func(r alerting.Run, at time.Time) int {
		if r.At.After(at) {
			return -1
		}
		return 1
	})
	return h.runs[i:]
}

// lookBack is how far before the range a type looks.
func (p *past) lookBack() time.Duration {
	switch p.rule.Type {
	case alert.FailureRate:
		return time.Duration(p.rule.WindowSec) * time.Second
	case alert.ConsecutiveFailures, alert.Recovered:
		return 24 * time.Hour
	case alert.Expression:
		return 25 * time.Hour
	}
	return time.Hour // runs that were planned before the range end in it
}

// ends asks the rule about each end of the range.
func (p *past) ends(ctx context.Context) error {
	judge := p.judgeEnd
	if p.rule.Type == alert.Expression {
		condition, problems := p.Expressions.Compile(p.rule.Expression)
		if len(problems) > 0 {
			return fmt.Errorf("the expression of the rule: %s", problems[0].Message)
		}
		judge = p.expression(condition)
	}
	if err := p.read(ctx, p.lookBack()); err != nil {
		return err
	}
	all := p.histories()
	for _, e := range p.execs {
		at := ended(e)
		if at.IsZero() || !at.Before(p.report.To) {
			continue
		}
		job, runs := p.jobs[e.JobID], all[e.JobID].until(at)
		// Ends before the range teach what is usual, and raise nothing.
		s, found := judge(job, e, runs)
		if !p.inside(at) {
			continue
		}
		switch {
		case found:
			p.happened(s)
		case e.Status == entity.StatusSuccess:
			p.recovered(job, runs, at)
		}
	}
	p.expireAll()
	return nil
}

func endOf(e *entity.Execution) alerting.End {
	return alerting.End{
		ExecutionID: e.ID, FireKey: e.FireKey, Status: e.Status, Reason: e.Reason, At: ended(e), Attempt: e.Attempt,
		Message: e.ErrorMessage, Fires: max(e.SkipCount, 1),
	}
}

func (p *past) judgeEnd(job alerting.Job, e *entity.Execution, runs []alerting.Run) (alerting.Signal, bool) {
	if n := alerting.NeedsRuns(p.rule); n < len(runs) {
		runs = runs[:n]
	}
	return alerting.OnEnd(p.rule, job, endOf(e), runs)
}

// recovered ends the episodes of a job that a success ends. For a rule of type RECOVERED
// it is the evidence itself: the run before the success failed.
func (p *past) recovered(job alerting.Job, runs []alerting.Run, at time.Time) {
	if p.rule.Type == alert.Recovered {
		if len(runs) > 1 && runs[0].Status == entity.StatusSuccess && alerting.Failure(runs[1].Status) {
			p.happened(alerting.RecoveryOf(p.rule, job, runs[0]))
		}
		return
	}
	s := alerting.Signal{Rule: p.rule, Subject: job.ID}
	fingerprint := s.Fingerprint()
	p.expire(fingerprint, at)
	if a := p.latest[fingerprint]; a != nil && a.Open() && !a.IsLevel() {
		if run, yes := alerting.EndedBy(a, p.rule, runs); yes {
			p.change(alerting.Ended(a, alert.ByRecovery, run.At, at))
		}
	}
}

// expression judges ends by a condition. The statistics of the day and what is usual come
// from the runs that were read.
func (p *past) expression(c alerting.Condition) func(alerting.Job, *entity.Execution, []alerting.Run) (
	alerting.Signal, bool) {
	days, usual := map[string]*day{}, map[string]*baseline.State{}
	failed := false
	if c.Uses(alerting.PartUsual) {
		p.note("what is usual for a job is learned from the runs that were read")
	}
	return func(job alerting.Job, e *entity.Execution, _ []alerting.Run) (s alerting.Signal, found bool) {
		f := alerting.FactsOf(job, e)
		if days[job.ID] == nil {
			days[job.ID], usual[job.ID] = &day{map[int64]*alerting.DayFacts{}}, &baseline.State{}
		}
		f.Day = days[job.ID].facts(ended(e))
		days[job.ID].add(e)
		if run, teaches := runOf(e, p.Zone); teaches {
			f.Usual = alerting.UsualOf(usual[job.ID], run.Start)
			usual[job.ID].Learn(run)
		}
		s, found, err := alerting.OnExpression(p.rule, c, job, endOf(e), &f)
		if err != nil && !failed {
			failed = true
			p.note("the expression could not be evaluated for at least one end: %s", err)
		}
		return s, found
	}
}

// day adds the ends of a job up by hours.
type day struct{ hours map[int64]*alerting.DayFacts }

func (d *day) add(e *entity.Execution) {
	hour := ended(e).Truncate(time.Hour).Unix()
	sum := d.hours[hour]
	if sum == nil {
		sum = &alerting.DayFacts{}
		d.hours[hour] = sum
	}
	if e.Status == entity.StatusSkipped {
		sum.Skipped += max(e.SkipCount, 1)
		return
	}
	sum.Runs++
	sum.Retries += e.RetryCount
	if alerting.Failure(e.Status) {
		sum.Failed++
	}
	sum.MeanMs += float64(e.Duration / time.Millisecond) // the sum, until it is asked for
}

func (d *day) facts(at time.Time) (out alerting.DayFacts) {
	hour := at.Truncate(time.Hour)
	for n := range 25 {
		if sum := d.hours[hour.Add(-time.Duration(n)*time.Hour).Unix()]; sum != nil {
			out.Runs, out.Failed = out.Runs+sum.Runs, out.Failed+sum.Failed
			out.Retries, out.Skipped, out.MeanMs = out.Retries+sum.Retries, out.Skipped+sum.Skipped, out.MeanMs+sum.MeanMs
		}
	}
	if out.Runs > 0 {
		out.FailureRate, out.MeanMs = float64(out.Failed)/float64(out.Runs), out.MeanMs/float64(out.Runs)
	}
	return out
}
