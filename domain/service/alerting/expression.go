package alerting

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// Facts is what the expression of a rule may ask of the end of an execution. The tags are
// the names in expressions; docs/alerts.md lists them.
type Facts struct {
	Status  string `expr:"status"`
	Reason  string `expr:"reason"`
	Trigger string `expr:"trigger"`
	Message string `expr:"message"`
	Node    string `expr:"node"`
	// Attempt counts starts from 1, and Retries those that followed a failure.
	Attempt int `expr:"attempt"`
	Retries int `expr:"retries"`
	// DurationMs is that of the last attempt, LatenessMs its start after the due time; 0
	// where it has not started.
	DurationMs int `expr:"durationMs"`
	LatenessMs int `expr:"latenessMs"`
	// Fires is how many fires the end stands for; more than 1 for skipped ones.
	Fires int        `expr:"fires"`
	Job   JobFacts   `expr:"job"`
	Day   DayFacts   `expr:"day"`
	Usual UsualFacts `expr:"usual"`
}

// JobFacts is what expressions know of the job.
type JobFacts struct {
	ID       string            `expr:"id"`
	Name     string            `expr:"name"`
	Group    string            `expr:"group"`
	Labels   map[string]string `expr:"labels"`
	Version  int               `expr:"version"`
	Priority int               `expr:"priority"`
}

// DayFacts are the statistics of the job over the 24 full hours before the end and the
// hour of the end, as far as they are added up.
type DayFacts struct {
	Runs    int `expr:"runs"`
	Failed  int `expr:"failed"`
	Retries int `expr:"retries"`
	Skipped int `expr:"skipped"`
	// FailureRate is Failed of Runs, 0 to 1; MeanMs the mean duration. Both are 0 without
	// a run.
	FailureRate float64 `expr:"failureRate"`
	MeanMs      float64 `expr:"meanMs"`
}

// UsualFacts is what is usual for the job, by its baseline; all 0 while nobody knows.
type UsualFacts struct {
	Runs   int `expr:"runs"`
	Ms     int `expr:"ms"`
	LowMs  int `expr:"lowMs"`
	HighMs int `expr:"highMs"`
}

// The parts of Facts that cost a read: Condition.Uses is asked for them.
const (
	PartDay   = "day"
	PartUsual = "usual"
)

// Condition is a checked expression. Safe for concurrent use.
type Condition interface {
	// Holds evaluates it, and returns what that cost in steps, also where it fails. It is
	// bounded: no expression loops, and "matches" sees the first MaxMatched bytes of a text.
	Holds(f *Facts) (holds bool, cost int64, err error)
	// Steps is the size of all its patterns together, in instructions.
	Steps() int
	// MayHold is false where it holds for no end of a status, as far as its text tells.
	MayHold(status string) bool
	// Uses reports whether it names a part of Facts.
	Uses(part string) bool
}

// ExpressionProblem is something wrong with an expression. Line and Column count from 1;
// the column counts characters.
type ExpressionProblem struct {
	Line, Column int
	Message      string
}

// Expressions checks and compiles expressions.
type Expressions interface {
	// Compile returns a condition, or everything that it finds wrong.
	Compile(text string) (Condition, []ExpressionProblem)
}

// OnExpression asks a rule of type EXPRESSION about the end of an execution. Cost is what that
// took, in steps.
func OnExpression(
	r *alert.Rule,
	c Condition,
	job Job,
	end End,
	f *Facts,
) (s Signal, found bool, cost int64, err error) {
	if !r.Enabled || !job.SeenBy(r) {
		return s, false, 0, nil
	}
	if found, cost, err = c.Holds(f); err != nil || !found {
		return s, false, cost, err
	}
	s = SignalOf(r, job, end)
	s.Content = fmt.Sprintf("A run of the %s ended with %s; the rule says: %s.", job.title(), end.why(),
		cut(r.Expression))
	s.Details["expression"] = cut(r.Expression)
	s.Details["durationMs"], s.Details["latenessMs"] = strconv.Itoa(f.DurationMs), strconv.Itoa(f.LatenessMs)
	if c.Uses(PartDay) {
		s.Details["dayRuns"], s.Details["dayFailed"] = strconv.Itoa(f.Day.Runs), strconv.Itoa(f.Day.Failed)
	}
	if c.Uses(PartUsual) {
		s.Details["usualMs"], s.Details["usualRuns"] = strconv.Itoa(f.Usual.Ms), strconv.Itoa(f.Usual.Runs)
	}
	return s, true, cost, nil
}

// FactsOf is what an execution that has ended says. The statistics and the baseline of the
// job are not filled in.
func FactsOf(job Job, e *entity.Execution) Facts {
	f := Facts{
		Status: string(e.Status), Reason: string(e.Reason), Trigger: string(e.Trigger), Message: e.ErrorMessage,
		Node: e.NodeID, Attempt: e.Attempt, Retries: e.RetryCount, DurationMs: int(e.Duration / time.Millisecond),
		Fires: max(e.SkipCount, 1),
		Job: JobFacts{
			ID: job.ID, Name: job.Name, Group: job.Group, Labels: job.Labels, Version: e.JobVersion, Priority: e.Priority,
		},
	}
	if !e.StartTime.IsZero() && e.StartTime.After(e.DueTime) {
		f.LatenessMs = int(e.StartTime.Sub(e.DueTime) / time.Millisecond)
	}
	return f
}

// UsualOf is what a baseline says of a run that starts at a moment.
func UsualOf(s *baseline.State, start time.Time) (f UsualFacts) {
	if p, known := s.Usual(start); known {
		f = UsualFacts{Runs: p.Runs, Ms: int(p.UsualMs), LowMs: int(p.LowMs), HighMs: int(p.HighMs)}
	}
	return f
}

// DayOf adds up the rows of the hours of a day.
func DayOf(rows []*statistics.Row) (f DayFacts) {
	var sum statistics.Row
	for _, r := range rows {
		sum.Merge(r)
	}
	failed := sum.Failed + sum.Timeout + sum.Dead
	f = DayFacts{
		Runs: int(sum.Runs), Failed: int(failed), Retries: int(sum.Retries), Skipped: int(sum.Skipped),
	}
	if sum.Runs > 0 {
		f.FailureRate, f.MeanMs = float64(failed)/float64(sum.Runs), float64(sum.DurationMs)/float64(sum.Runs)
	}
	return f
}

// samples are ends of all sorts. A condition that holds for all of them says nothing.
func samples() (all []Facts) {
	statuses := []entity.Status{
		entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout, entity.StatusDead, entity.StatusCancelled,
		entity.StatusSkipped,
	}
	sizes := []int{0, 1, 1_000, 100_000, 100_000_000}
	for _, status := range statuses {
		for i, size := range sizes {
			name := []string{"", "a", "job", "x-1", "settle orders"}[i]
			f := Facts{
				Status: string(status), Message: name, Node: name, Attempt: i + 1, Retries: i, DurationMs: size,
				LatenessMs: sizes[len(sizes)-1-i], Fires: 1 + i,
				Trigger: string(entity.Triggers()[i]),
				Job:     JobFacts{ID: name, Name: name, Group: name, Version: i + 1, Priority: 1 + 2*i},
			}
			if i > 0 {
				f.Day = DayFacts{
					Runs: size, Failed: size / 2, Retries: i, Skipped: i, FailureRate: float64(i) / 4,
					MeanMs: float64(size),
				}
				f.Usual = UsualFacts{Runs: size, Ms: size, LowMs: size / 2, HighMs: 2 * size}
				f.Job.Labels = map[string]string{"tier": name, "team": name}
			}
			all = append(all, f)
		}
	}
	return all
}

// holdsForAll reports whether a condition lets every sample through.
func holdsForAll(c Condition) bool {
	return !slices.ContainsFunc(samples(), func(f Facts) bool {
		holds, _, err := c.Holds(&f)
		return err != nil || !holds
	})
}

// AsksForSuccesses reports whether a rule is to be told of the successes of the jobs that
// it sees. They cost a row each, which failures do anyway. The condition is that of a rule of
// type EXPRESSION; nil where it has none that can be read.
func AsksForSuccesses(r *alert.Rule, c Condition) bool {
	if !r.Enabled || r.Type != alert.Expression {
		return r.Enabled && r.Type == alert.JobSucceeded
	}
	return c != nil && c.MayHold(string(entity.StatusSuccess))
}
