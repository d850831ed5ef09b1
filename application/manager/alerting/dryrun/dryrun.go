// Package dryrun says which alerts a rule would have raised in the past. It asks the
// functions of domain/service/alerting that judge the present, over what the store keeps.
package dryrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// The bounds of a dry run.
const (
	// MaxRange is the longest range.
	MaxRange = 31 * 24 * time.Hour
	// MaxExecutions is how many executions it looks at: the newest of the range.
	MaxExecutions = 20_000
	// MaxAlerts is how many alerts it tells one by one.
	MaxAlerts = 200
	// MaxTime is how long it reads and judges.
	MaxTime = 10 * time.Second
	// checkEvery is the number of items between two checks whether it has to end.
	checkEvery = 100
	// maxMetrics is how many rows of time series it looks at.
	maxMetrics = 100_000
	// page is how many executions one statement reads.
	page = 500
)

// Runs reads executions.
type Runs interface {
	fires.Rows
	// List: see repository.ExecutionReader.
	List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) ([]*entity.Execution, string, error)
}

// Deps are the parts of a Runner.
type Deps struct {
	Runs        Runs
	Jobs        repository.Alerts
	Metrics     repository.MetricRows
	Expressions alerting.Expressions
	Clock       clock.StoreClock
	// Zone is that of hours and weekdays of baselines.
	Zone *time.Location
	// Grace is how late a fire may be.
	Grace time.Duration
	// MaxTime is how long it reads and judges; zero is the constant of that name.
	MaxTime time.Duration
}

// Runner does dry runs. It writes nothing. Safe for concurrent use.
type Runner struct{ Deps }

// New wires the parts.
func New(d Deps) *Runner {
	if d.MaxTime == 0 {
		d.MaxTime = MaxTime
	}
	return &Runner{d}
}

// Report is what a rule would have done.
type Report struct {
	// From and To are the range that the dry run has read. Where it reached its bounds, From is later, or To earlier, than
	// the caller asked for.
	From, To time.Time
	// Alerts are the first MaxAlerts episodes that there would have been, the oldest first,
	// each as it would stand at To, with its times and evidence. Total is how many there
	// would have been.
	Alerts []*alert.Alert
	Total  int
	// Evidence is how many pieces of evidence there were.
	Evidence int
	// Executions and Metrics are how many rows were looked at.
	Executions int
	Metrics    int
	// Truncated: a bound was reached, so that there may be more.
	Truncated bool
	// Notes say in which way the past tells less than the present.
	Notes []string
}

// errTime ends a dry run that has taken too long.
var errTime = errors.New("the dry run has used up its time")

// DryRun says what a valid rule would have raised in [from, to). It looks at the runs that
// were planned in the range. A rule that is switched off is run as if it were on.
func (r *Runner) DryRun(ctx context.Context, rule *alert.Rule, from, to time.Time) (*Report, error) {
	now := r.Clock.Now()
	if to.After(now) {
		to = now
	}
	switch {
	case !from.Before(to):
		return nil, apperror.InvalidField("from", "out_of_range", "must be before to, and in the past")
	case to.Sub(from) > MaxRange:
		return nil, apperror.InvalidField("from", "out_of_range", fmt.Sprintf("use a range of at most %s", MaxRange))
	}
	own := *rule
	own.Enabled = true
	if own.ID == "" {
		own.ID = "dry-run"
	}
	caller := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, r.MaxTime, errTime)
	defer cancel()
	p := &past{
		Runner: r, rule: &own, report: &Report{From: from, To: to}, caller: caller,
		fires: fires.NewReader(r.Runs, fires.NewBudget(), now),
	}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return p.report, nil
}

// past is one dry run.
type past struct {
	*Runner
	rule   *alert.Rule
	report *Report
	// caller ends with the call, not with the time of the dry run.
	caller context.Context //nolint:containedctx // one dry run is one call
	// jobs are those of the executions that the rule sees.
	jobs map[string]alerting.Job
	// fires are what the rule asks for of their past, read as rules of the present read it.
	fires *fires.Reader
	// execs are the executions of these jobs in the order in which they ended.
	execs []*entity.Execution
	// episodes are all of them by their ids, in the order in which they opened; latest is
	// the newest of each fingerprint.
	episodes map[string]*alert.Alert
	order    []string
	latest   map[string]*alert.Alert
}

func (p *past) note(format string, args ...any) {
	p.report.Notes = append(p.report.Notes, fmt.Sprintf(format, args...))
}

// goesOn reports whether there is time to judge the next item, which is number i. An error means that the caller is
// gone. When the time is over, the report ends at the moment of the item.
func (p *past) goesOn(ctx context.Context, i int, at time.Time) (bool, error) {
	if i%checkEvery != 0 || ctx.Err() == nil {
		return true, nil
	}
	if !errors.Is(context.Cause(ctx), errTime) {
		return false, ctx.Err()
	}
	p.report.Truncated = true
	if at.After(p.report.From) && at.Before(p.report.To) {
		p.report.To = at
	}
	return false, nil
}

func (p *past) run(ctx context.Context) error {
	p.episodes, p.latest = map[string]*alert.Alert{}, map[string]*alert.Alert{}
	var err error
	switch p.rule.Type {
	case alert.JobFailed, alert.JobSucceeded, alert.Recovered, alert.ConsecutiveFailures, alert.FailureRate,
		alert.Timeout, alert.DeadLetter, alert.Expression:
		err = p.ends(ctx)
	case alert.SlowRun, alert.FasterThanUsual, alert.FailingMore:
		err = p.findings(ctx)
	case alert.NotFired, alert.Lateness, alert.NothingRan:
		err = p.starts(ctx)
	case alert.NoNode:
		if err = p.ends(ctx); err == nil {
			err = p.measured(ctx)
		}
	case alert.QueueDepth, alert.NodeSuspect, alert.NodeDown, alert.ClockSkew, alert.Degraded:
		err = p.measured(ctx)
	case alert.Watchdog:
		p.spans([]span{{
			subject: "watchdog", from: p.report.From, to: p.report.To,
			content: "This alert always fires: while it arrives, alerting works.",
		}})
	default:
		p.note("the store keeps no past of the type %s; it is judged by the present alone", p.rule.Type)
	}
	if err != nil {
		return err
	}
	p.report.Total = len(p.order)
	for _, id := range p.order[:min(len(p.order), MaxAlerts)] {
		p.report.Alerts = append(p.report.Alerts, p.episodes[id])
	}
	return nil
}

// change keeps what a change does to an episode.
func (p *past) change(c alerting.Change) {
	if c.Alert == nil {
		return
	}
	if _, known := p.episodes[c.Alert.ID]; !known {
		p.order = append(p.order, c.Alert.ID)
	}
	p.episodes[c.Alert.ID], p.latest[c.Alert.Fingerprint] = c.Alert, c.Alert
}

// happened is evidence of something that happened.
func (p *past) happened(s alerting.Signal) {
	p.report.Evidence++
	fingerprint := s.Fingerprint()
	p.expire(fingerprint, s.At)
	p.change(alerting.Happened(p.latest[fingerprint], &s, s.At))
}

// expire ends an episode that has had no evidence for too long.
func (p *past) expire(fingerprint string, now time.Time) {
	if a := p.latest[fingerprint]; a != nil && a.Open() {
		if end := a.LastTime.Add(p.rule.ResolveAfter()); !now.Before(end) {
			p.change(alerting.Expired(a, p.rule, end))
		}
	}
}

// expireAll ends what is over by the end of the range.
func (p *past) expireAll() {
	for fingerprint := range p.latest {
		p.expire(fingerprint, p.report.To)
	}
}
