package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// span is a time in which a level was above its line.
type span struct {
	subject  string
	from, to time.Time
	content  string
	details  map[string]string
	job      alerting.Job
	node     string
}

// starts finds the levels that the times of executions tell: fires that came too late, and
// times in which nothing ended.
func (p *past) starts(ctx context.Context) error {
	if p.rule.Type == alert.NotFired {
		p.note("a job that has never fired since leaves no trace: only late and skipped fires are found")
		if err := p.ends(ctx); err != nil { // also reads
			return err
		}
	} else if err := p.read(ctx, max(time.Hour, time.Duration(p.rule.WindowSec)*time.Second)); err != nil {
		return err
	}
	switch p.rule.Type {
	case alert.NotFired:
		p.spans(p.overdue())
	case alert.Lateness:
		p.spans(p.waited())
	default:
		p.spans(p.silent())
	}
	return nil
}

// overdue are the fires that were recorded later than the grace allows.
func (p *past) overdue() (out []span) {
	grace := max(p.Grace, time.Duration(p.rule.Threshold*float64(time.Second)))
	for _, e := range p.execs {
		if e.Trigger != entity.TriggerSchedule || e.IsRange() || e.CreateTime.Sub(e.DueTime) < grace {
			continue
		}
		job := p.jobs[e.JobID]
		out = append(out, span{
			subject: job.ID, from: e.DueTime.Add(grace), to: e.CreateTime, job: job,
			content: fmt.Sprintf("The job %s did not fire at %s.", job.Name, e.DueTime.UTC().Format(time.RFC3339)),
			details: map[string]string{"job": job.Name, "due": e.DueTime.UTC().Format(time.RFC3339)},
		})
	}
	return out
}

// waited are the waits for a slot that were longer than the rule allows. Retries have lost
// when they began to wait.
func (p *past) waited() (out []span) {
	line := time.Duration(p.rule.Threshold * float64(time.Second))
	for _, e := range p.execs {
		due := e.DueTime
		if e.CreateTime.After(due) {
			due = e.CreateTime
		}
		if e.RetryCount > 0 || e.StartTime.IsZero() || e.StartTime.Sub(due) < line {
			continue
		}
		out = append(out, span{
			subject: alerting.Ready, from: due.Add(line), to: e.StartTime,
			content: fmt.Sprintf("The oldest run of the queue %s has waited for %s.", alerting.Ready, line),
			details: map[string]string{"queue": alerting.Ready},
		})
	}
	return out
}

// silent are the times in which nothing ended.
func (p *past) silent() (out []span) {
	window := time.Duration(p.rule.WindowSec) * time.Second
	var last time.Time
	quiet := func(until time.Time) {
		if !last.IsZero() && until.Sub(last) >= window {
			out = append(out, span{
				subject: "cluster", from: last.Add(window), to: until,
				content: fmt.Sprintf("Nothing has run for %s.", until.Sub(last).Round(time.Second)),
			})
		}
	}
	for _, e := range p.execs {
		if at := ended(e); !at.IsZero() {
			quiet(at)
			last = at
		}
	}
	quiet(p.report.To)
	p.note("whether fires were planned in a time without any is not known of the past")
	return out
}

// measure says which series tells of a type, and from which value on it is above the line.
func (p *past) measure() (name string, above func(r series.Row) (string, bool)) {
	most := func(what string, line float64) func(r series.Row) (string, bool) {
		return func(r series.Row) (string, bool) { return fmt.Sprintf(what, r.Max), r.Max >= line }
	}
	switch p.rule.Type {
	case alert.QueueDepth:
		return "cluster.ready", most("%.0f runs wait in the queue ready.", p.rule.Threshold)
	case alert.NoNode:
		return "cluster.unroutable", most("%.0f runs wait: no live node can run them.", 1)
	case alert.NodeSuspect:
		return "cluster.nodesSuspect", most("%.0f nodes are SUSPECT.", 1)
	case alert.NodeDown:
		return "cluster.nodesDown", most("%.0f nodes are DOWN.", 1)
	case alert.Degraded:
		return "node.degradedParts", most("%.0f parts of the node are degraded.", 1)
	default:
		line := float64(entity.MaxClockOffset / time.Millisecond)
		if p.rule.Threshold > 0 {
			line = p.rule.Threshold * 1000
		}
		return "node.clockOffsetMs", func(r series.Row) (string, bool) {
			off := max(r.Max, -r.Min)
			return fmt.Sprintf("The clock of the node %s is off by %.0f ms.", r.NodeID, off), off > line
		}
	}
}

// measured finds levels in the time series of a minute.
func (p *past) measured(ctx context.Context) error {
	name, above := p.measure()
	rows, err := p.Metrics.ReadMetrics(ctx, repository.MetricQuery{
		Name: name, Period: series.Minute, From: p.report.From, To: p.report.To, ByNode: true, Limit: maxMetrics,
	})
	if err != nil {
		if !errors.Is(context.Cause(ctx), errTime) {
			return fmt.Errorf("read the series %s of a dry run: %w", name, err)
		}
		p.report.Truncated = true
	}
	p.note("the past is known by the minute, from the series %s, as long as it is kept", name)
	if p.rule.Type == alert.NodeDown {
		p.note("the series also counts nodes that were stopped in order; the rule does not")
	}
	p.report.Metrics = len(rows)
	p.report.Truncated = p.report.Truncated || len(rows) == maxMetrics
	var spans []span
	for _, r := range rows {
		content, yes := above(r)
		if !yes {
			continue
		}
		subject := r.NodeID
		if subject == "" {
			subject = "cluster"
		}
		spans = append(spans, span{
			subject: subject, from: r.Time, to: r.Time.Add(r.Period), content: content, node: r.NodeID,
			details: map[string]string{"series": name, "max": fmt.Sprintf("%g", r.Max)},
		})
	}
	p.spans(spans)
	return nil
}

// spans lets the level of each subject rise and fall, as the looks of the present do.
func (p *past) spans(all []span) {
	bySubject := map[string][]span{}
	var subjects []string
	for _, s := range all {
		s.from = later(s.from, p.report.From)
		if !s.from.Before(s.to) || !s.from.Before(p.report.To) {
			continue
		}
		if bySubject[s.subject] == nil {
			subjects = append(subjects, s.subject)
		}
		bySubject[s.subject] = append(bySubject[s.subject], s)
	}
	for _, subject := range subjects {
		spans := bySubject[subject]
		slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
		p.report.Evidence += len(spans)
		p.level(merged(spans))
	}
	slices.SortStableFunc(p.order, func(a, b string) int {
		return cmp.Or(p.episodes[a].PendingSince.Compare(p.episodes[b].PendingSince), cmp.Compare(a, b))
	})
}

// merged joins spans that follow one another without a gap.
func merged(spans []span) (out []span) {
	for _, s := range spans {
		if n := len(out); n > 0 && !s.from.After(out[n-1].to) {
			out[n-1].to = later(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// level plays the spans of one subject: what each look would have seen that changes
// anything.
func (p *past) level(spans []span) {
	for i, s := range spans {
		signal := alerting.Signal{
			Rule: p.rule, Subject: s.subject, Evidence: s.from.UTC().Format(time.RFC3339Nano), At: s.from,
			Content: s.content, Details: s.details, JobID: s.job.ID, Group: s.job.Group, NodeID: s.node,
		}
		if s.job.ID != "" {
			signal.Labels = alerting.SignalOf(p.rule, s.job, alerting.End{}).Labels
		}
		fingerprint := signal.Fingerprint()
		held := func() *alert.Alert {
			if a := p.latest[fingerprint]; a != nil && a.Held {
				return a
			}
			return nil
		}
		p.change(alerting.Above(held(), &signal, s.from))
		if a := held(); a != nil && a.Status == alert.Pending {
			if fires := a.PendingSince.Add(time.Duration(p.rule.ForSec) * time.Second); fires.Before(s.to) {
				p.change(alerting.Above(a, &signal, fires))
			}
		}
		if !s.to.Before(p.report.To) {
			continue // it is still above
		}
		if a := held(); a != nil {
			p.change(alerting.Below(a, p.rule, s.to))
		}
		a := held()
		if a == nil || !a.Open() {
			continue
		}
		resolves := s.to.Add(p.rule.Keep(alerting.Interval))
		if i+1 < len(spans) && !spans[i+1].from.After(resolves) || resolves.After(p.report.To) {
			continue
		}
		p.change(alerting.Below(a, p.rule, resolves))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
