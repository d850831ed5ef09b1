package dryrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// enoughOf answers what the fires of a job were at a moment, as far as a question needs them. It
// is false where the bounds of the dry run were reached.
func (p *past) enoughOf(ctx context.Context, q fires.Question) (alerting.Past, bool, error) {
	found, err := p.fires.Before(ctx, q)
	if errors.Is(err, fires.ErrLater) || err != nil && errors.Is(context.Cause(ctx), errTime) {
		p.report.Truncated = true
		return found, false, nil
	}
	return found, err == nil, err
}

// expect tells of all ends that will be asked about.
func (p *past) expect() {
	for _, e := range p.execs {
		if at := ended(e); !at.IsZero() {
			p.fires.Expect(e.JobID, e.ID, at)
		}
	}
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
	judge := p.evaluateEnd
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
	p.expect()
	known := true
	for i, e := range p.execs {
		at := ended(e)
		if more, err := p.goesOn(ctx, i, at); !more {
			if err != nil {
				return err
			}
			break
		}
		if at.IsZero() || !at.Before(p.report.To) {
			continue
		}
		job := p.jobs[e.JobID]
		var before alerting.Past
		var err error
		if known {
			before, known, err = p.before(ctx, e, at)
		}
		if err != nil {
			return err
		}
		if !known {
			break // later ends are not evaluated
		}
		// Ends before the range teach what is usual, and raise nothing.
		s, found := judge(job, e, before)
		if !p.inside(at) {
			continue
		}
		switch {
		case found:
			p.happened(s)
		case e.Status == entity.StatusSuccess:
			if known, err = p.recovered(ctx, job, at); err != nil {
				return err
			}
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

// before are the fires up to an end in the range, where the rule asks for them.
func (p *past) before(ctx context.Context, e *entity.Execution, at time.Time) (alerting.Past, bool, error) {
	n := alerting.NeedsRuns(p.rule)
	if n == 0 || !e.Status.Failed() || !p.inside(at) {
		return alerting.Past{}, true, nil
	}
	end := endOf(e)
	return p.enoughOf(ctx, fires.Question{
		JobID: e.JobID, Moment: at, ExecutionID: e.ID, Fires: n,
		Enough: func(runs []alerting.Run) bool { return alerting.EnoughRuns(p.rule, end, runs) },
	})
}

func (p *past) evaluateEnd(job alerting.Job, e *entity.Execution, before alerting.Past) (alerting.Signal, bool) {
	return alerting.OnEnd(p.rule, job, endOf(e), before)
}

// recovered ends the episodes of a job that a success ends. For a rule of type RECOVERED
// it is the evidence itself: the run before the success failed. It is false where the bounds
// were reached.
func (p *past) recovered(ctx context.Context, job alerting.Job, at time.Time) (bool, error) {
	if p.rule.Type == alert.Recovered {
		two := fires.Question{JobID: job.RunsAs(), Moment: at, Fires: 2, Enough: func([]alerting.Run) bool { return false }}
		before, known, err := p.enoughOf(ctx, two)
		if runs := before.Runs; known && len(runs) > 1 && runs[0].Status == entity.StatusSuccess &&
			runs[1].Status.Failed() {
			p.happened(alerting.RecoveryOf(p.rule, job, runs[0]))
		}
		return known, err
	}
	s := alerting.Signal{Rule: p.rule, Subject: job.RunsAs()}
	fingerprint := s.Fingerprint()
	p.expire(fingerprint, at)
	a := p.latest[fingerprint]
	if a == nil || !a.Open() || a.IsLevel() {
		return true, nil
	}
	before, known, err := p.enoughOf(ctx, fires.Question{
		JobID: job.RunsAs(), Moment: at, Fires: alerting.RunsToEnd(a, p.rule),
		Enough: func(runs []alerting.Run) bool { return alerting.EnoughToEnd(a, p.rule, runs) },
	})
	if run, yes := alerting.EndedBy(a, p.rule, before.Runs); known && yes {
		p.change(alerting.Ended(a, alert.ByRecovery, run.At, at))
	}
	return known, err
}

// expression judges ends by a condition. The statistics of the day and what is usual come
// from the runs that were read.
func (p *past) expression(c alerting.Condition) func(alerting.Job, *entity.Execution, alerting.Past) (
	alerting.Signal, bool) {
	days, usual := map[string]*day{}, map[string]*baseline.State{}
	failed := false
	if c.Uses(alerting.PartUsual) {
		p.note("what is usual for a job is learned from the runs that were read")
	}
	return func(job alerting.Job, e *entity.Execution, _ alerting.Past) (s alerting.Signal, found bool) {
		f := alerting.FactsOf(job, e)
		if days[job.RunsAs()] == nil {
			days[job.RunsAs()], usual[job.RunsAs()] = &day{map[int64]*alerting.DayFacts{}}, &baseline.State{}
		}
		f.Day = days[job.RunsAs()].facts(ended(e))
		days[job.RunsAs()].add(e)
		if run, teaches := runOf(e, p.Zone); teaches {
			f.Usual = alerting.UsualOf(usual[job.RunsAs()], run.Start)
			usual[job.RunsAs()].Learn(run)
		}
		s, found, _, err := alerting.OnExpression(p.rule, c, job, endOf(e), &f)
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
	if e.Status.Failed() {
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
