package alerting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// said is a rule of type EXPRESSION with its condition.
type said struct {
	rule *alert.Rule
	alerting.Condition
}

// conditions are those of the rules of type EXPRESSION that are on. It logs and leaves out one that cannot be compiled:
// an older program may have saved it.
func (e *Evaluator) conditions(rules map[string]*alert.Rule) (out []said) {
	e.compiled.Keep(rules)
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		r := rules[id]
		if r.Type != alert.Expression || !r.Enabled {
			continue
		}
		condition, problems := e.compiled.Of(r)
		if len(problems) > 0 {
			e.Logger.Error("the expression of a rule is wrong; the rule is left out", "rule", r.Name, "line", problems[0].Line,
				"column", problems[0].Column, "error", problems[0].Message)
			continue
		}
		out = append(out, said{r, condition})
	}
	return out
}

// sized are conditions with the size of their patterns.
func sized(all []said) []alerting.Sized {
	out := make([]alerting.Sized, len(all))
	for i, c := range all {
		out[i] = alerting.Sized{Rule: c.rule, Steps: c.Steps()}
	}
	return out
}

// expressions asks the rules of type EXPRESSION about ends. It reads the executions of
// those ends that a rule sees, and of their jobs what the expressions name. It returns how
// many ends it has judged.
func (e *Evaluator) expressions(ctx context.Context, all []said, events []entity.Event,
	ends []endData, jobs map[string]repository.AlertJob,
) (out []found, judged int, err error) {
	if len(all) == 0 {
		return nil, len(ends), nil
	}
	var ids []string
	for _, end := range ends {
		if job, known := jobs[end.JobID]; known && seen(all, job) {
			ids = append(ids, end.ExecutionID)
		}
	}
	if len(ids) == 0 {
		return nil, len(ends), nil
	}
	if err := e.budget.Begin(ctx, sized(all)); err != nil {
		return nil, 0, err
	}
	defer func() {
		if saved := e.budget.Save(ctx); saved != nil { // the next turn tries again
			e.Logger.Error("suspended rules are not stored yet", "error", saved)
		}
	}()
	execs, err := e.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("read the executions of events: %w", err)
	}
	byID := entity.ByID(execs)
	reader := &factsReader{Evaluator: e, days: map[string]alerting.DayFacts{}, usual: map[string]*baseline.State{}}
	spent := e.span(ctx)
	var steps int64
	var took time.Duration
	defer func() { e.pace.note(steps, took) }()
	for i, end := range ends {
		if full, err := spent(i, len(out)); full || err != nil {
			return out, i, err
		}
		exec, job := byID[end.ExecutionID], jobs[end.JobID]
		if exec == nil {
			continue // retention was faster
		}
		at := endOf(end, events[i].CreateTime)
		for _, c := range all {
			if !seenBy(c.rule, job) || e.budget.Suspended(c.rule.ID) {
				continue
			}
			facts, err := reader.of(ctx, c, ruleset.JobOf(job), exec, at.At)
			if err != nil {
				return nil, 0, err
			}
			began := e.Machine.Monotonic()
			signal, holds, cost, err := alerting.OnExpression(c.rule, c, ruleset.JobOf(job), at, &facts)
			steps, took = steps+cost, took+e.Machine.Monotonic()-began
			e.budget.Spend(c.rule, cost)
			if err != nil {
				e.Logger.Error("the expression of a rule failed", "rule", c.rule.Name, "execution", exec.ID, "error", err)
			}
			if holds {
				out = append(out, found{events[i].ID, signal})
			}
		}
	}
	return out, len(ends), nil
}

func seen(all []said, job repository.AlertJob) bool {
	return slices.ContainsFunc(all, func(c said) bool { return seenBy(c.rule, job) })
}

// factsReader reads what expressions name of a job, once a batch.
type factsReader struct {
	*Evaluator
	days  map[string]alerting.DayFacts
	usual map[string]*baseline.State
}

func (r *factsReader) of(ctx context.Context, c alerting.Condition, job alerting.Job, exec *entity.Execution,
	at time.Time,
) (f alerting.Facts, err error) {
	f = alerting.FactsOf(job, exec)
	id, ok := identity.Bytes(job.RunsAs())
	if !ok {
		return f, nil
	}
	if c.Uses(alerting.PartDay) {
		if f.Day, ok = r.days[job.RunsAs()]; !ok {
			if f.Day, err = r.day(ctx, id, at); err != nil {
				return f, err
			}
			r.days[job.RunsAs()] = f.Day
		}
	}
	if c.Uses(alerting.PartUsual) {
		state, ok := r.usual[job.RunsAs()]
		if !ok {
			if state, err = r.baseline(ctx, id); err != nil {
				return f, err
			}
			r.usual[job.RunsAs()] = state
		}
		f.Usual = alerting.UsualOf(state, exec.StartTime.In(r.Zone))
	}
	return f, nil
}

// day adds up the hour of a moment and the 24 before it.
func (r *factsReader) day(ctx context.Context, job repository.BinaryID, at time.Time) (f alerting.DayFacts, err error) {
	hour := at.UTC().Truncate(time.Hour)
	rows, err := r.Sums.SumRows(ctx, repository.SumsQuery{
		Job: job, Hours: statistics.Interval{From: hour.Add(-24 * time.Hour), To: hour.Add(time.Hour)},
	})
	if err != nil {
		return f, fmt.Errorf("read the statistics of a job: %w", err)
	}
	sums := make([]*statistics.Row, len(rows))
	for i := range rows {
		sums[i] = rows[i].Row
	}
	return alerting.DayOf(sums), nil
}

// baseline is what is usual for a job. One that cannot be read says nothing.
func (r *factsReader) baseline(ctx context.Context, job repository.BinaryID) (*baseline.State, error) {
	stored, err := r.Baselines.BaselinesOf(ctx, []repository.BinaryID{job})
	if err != nil {
		return nil, fmt.Errorf("read what is usual for a job: %w", err)
	}
	if data := stored[job].Data; len(data) > 0 {
		if state, err := baseline.Decode(data); err == nil {
			return state, nil
		}
	}
	return &baseline.State{}, nil
}
