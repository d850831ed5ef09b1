// Package explain answers why a job did, or did not, run at a moment. The answer comes from what the store holds: the
// fire ledger, the definition of that time, pauses, limits, the registry of nodes and alerts.
package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Verdict is what happened, in one word.
type Verdict string

// The verdicts.
const (
	// Fired: the fire ran, and is over.
	Fired   Verdict = "FIRED"
	Running Verdict = "RUNNING"
	Waiting Verdict = "WAITING"
	// Skipped: it was decided that the fire does not run.
	Skipped Verdict = "SKIPPED"
	// Planned: it is still to come.
	Planned Verdict = "PLANNED"
	// Overdue: it is due, and nobody has decided about it.
	Overdue Verdict = "OVERDUE"
	// NotPlanned: no fire was, or is, planned for the moment.
	NotPlanned Verdict = "NOT_PLANNED"
	// Unknown: the schedule names the moment, and nothing is recorded.
	Unknown Verdict = "UNKNOWN"
)

// Verdicts lists them.
func Verdicts() []Verdict {
	return []Verdict{Fired, Running, Waiting, Skipped, Planned, Overdue, NotPlanned, Unknown}
}

// Code says why, for programs. For fires it is a status, a reason of the ledger or what the run waits for.
type Code string

// Fact is something that belongs to the answer.
type Fact struct {
	Code Code
	// ID is of the run, node or alert that it is about; empty for others.
	ID string
	// Params are the values that Text names.
	Params Params
	// Text is one sentence, in English, made of Code and Params.
	Text string
}

// Answer is why.
type Answer struct {
	JobID   string
	JobName string
	// Time is the moment that was asked for; that of the latest fire where none was.
	Time    time.Time
	Verdict Verdict
	Code    Code
	// Params are the values that Text names.
	Params Params
	// Text is one sentence, in English; its times are in the zone of the question.
	Text string
	// Message is what a run said that failed.
	Message string
	// Fire is the line of the ledger; nil where there is none.
	Fire  *entity.LedgerEntry
	Facts []Fact
}

// Query asks for the fire of a job at a moment. The zero moment is that of the latest fire.
type Query struct {
	JobID string
	At    time.Time
	// Wall is the moment as a clock of Zone shows it, read as if that were UTC. It stands in place of At.
	Wall time.Time
	// Zone is of the times in texts; nil is that of the job.
	Zone *time.Location
	// SeesRuns and SeesAlerts tell whether the caller may.
	SeesRuns, SeesAlerts bool
	// SeesRunsOf tells whether the caller may see those of another group; nil: of each.
	SeesRunsOf func(group string) bool
}

// ExplainService answers why. It reads a bounded number of rows, and writes none. Safe for concurrent use.
type ExplainService struct {
	// Ledger reads the fire ledger, newest first, and the cursor of the next page.
	Ledger     func(ctx context.Context, q entity.LedgerQuery) ([]entity.LedgerEntry, string, error)
	Jobs       repository.JobReader
	Executions repository.ExecutionReader
	Groups     repository.Groups
	Nodes      repository.NodeReader
	Workers    repository.WorkerReader
	// WorkerGroups says what the workers of a group may run.
	WorkerGroups interface {
		// WorkerGroup is one; apperror.KindNotFound where there is none.
		WorkerGroup(ctx context.Context, name string) (worker.Group, error)
	}
	Alerts    repository.Alerts
	Chains    repository.ChainReader
	Schedules admission.Compiler
	Clock     clock.StoreClock
	// Standby says why this node stands by, and since when; an empty reason: it works. nil is always that.
	Standby func() (reason string, since time.Time)
	// Standing tells where a workflow run stands; apperror.KindNotFound where there is none. nil knows none.
	Standing func(ctx context.Context, runID string) (*Standing, error)
	// Kept is how long runs are kept.
	Kept time.Duration
}

// Explain answers a question; apperror.KindNotFound for a job that never was.
func (s *ExplainService) Explain(ctx context.Context, q Query) (*Answer, error) {
	job, err := s.Jobs.Get(ctx, q.JobID)
	if apperror.Is(err, apperror.KindNotFound) {
		return s.deleted(ctx, q, err)
	}
	if err != nil {
		return nil, err
	}
	c := &inquiry{ExplainService: s, Query: q, job: job, now: s.Clock.Now()}
	if c.Zone == nil {
		c.Zone = zoneOf(job.Schedule.TimeZone)
	}
	var left *gap
	if !q.Wall.IsZero() {
		c.At, left = moment(q.Wall, c.Zone)
	}
	c.latestAsked = c.At.IsZero()
	c.answer = &Answer{JobID: job.ID, JobName: job.Name, Time: c.At}
	if err := c.run(ctx, left); err != nil {
		return nil, fmt.Errorf("explain the job %s: %w", job.ID, err)
	}
	return c.answer, nil
}

// deleted answers for a job that is gone; its runs say more while they are kept.
func (s *ExplainService) deleted(ctx context.Context, q Query, missing error) (*Answer, error) {
	names, err := s.Jobs.Names(ctx, []string{q.JobID})
	if err != nil {
		return nil, err
	}
	name, ok := names[q.JobID]
	if !ok || identity.IsStepID(q.JobID) { // steps have names, and are no jobs
		return nil, missing
	}
	a := &Answer{JobID: q.JobID, JobName: name, Time: q.At}
	if a.Time.IsZero() {
		a.Time = s.Clock.Now()
	}
	c := &inquiry{ExplainService: s, Query: q, job: &entity.Job{ID: q.JobID}, now: s.Clock.Now(), answer: a}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if !q.Wall.IsZero() {
		a.Time, _ = moment(q.Wall, c.Zone)
	}
	c.say(NotPlanned, Deleted, nil)
	return a, c.latestRun(ctx)
}

// inquiry is one question and the answer so far.
type inquiry struct {
	*ExplainService
	Query
	job *entity.Job
	now time.Time
	// latestAsked: the question names no moment.
	latestAsked bool
	answer      *Answer
}

// say sets the verdict; the sentence is that of its code.
func (c *inquiry) say(v Verdict, code Code, p Params) {
	c.sayAs(v, code, code, p)
}

// sayAs sets the verdict, and the sentence of another code of the verdict.
func (c *inquiry) sayAs(v Verdict, code, as Code, p Params) {
	a := c.answer
	a.Verdict, a.Code, a.Params = v, code, p.shown()
	a.Text = c.sentence(template(v, as), a.Params)
}

// add adds a fact.
func (c *inquiry) add(code Code, id string, p Params) {
	p = p.shown()
	c.answer.Facts = append(c.answer.Facts, Fact{Code: code, ID: id, Params: p, Text: c.sentence(template("", code), p)})
}

func (c *inquiry) run(ctx context.Context, left *gap) error {
	find := c.find
	if left != nil {
		if err := c.gapped(ctx, left); err != nil {
			return err
		}
		return c.standing(ctx)
	}
	if c.latestAsked {
		find = c.latest
	}
	entry, err := find(ctx)
	if err != nil {
		return err
	}
	if entry != nil {
		if c.answer.Fire = entry; c.latestAsked {
			c.At = entry.ScheduledTime
		}
		if err = c.fire(ctx, entry); err == nil {
			err = c.chained(ctx, entry)
		}
	} else {
		if c.latestAsked {
			c.At = c.now
		}
		if err = c.nothing(ctx); err == nil {
			err = c.follows(ctx)
		}
	}
	c.answer.Time = c.At
	if err != nil {
		return err
	}
	if err := c.standsBy(ctx); err != nil {
		return err
	}
	if err := c.standing(ctx); err != nil {
		return err
	}
	c.nowFirst()
	return c.alerts(ctx)
}

// zoneOf is a zone by its name; UTC where it is not known here.
func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return time.UTC
	}
	return zone
}

// when is a time as people read it; milliseconds are shown where there are any.
func (c *inquiry) when(t time.Time) string {
	layout := "2006-01-02 15:04:05Z07:00"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.000Z07:00"
	}
	return t.In(c.Zone).Format(layout)
}

// span is a duration as people read it.
func span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	unit := time.Millisecond
	switch {
	case d >= time.Hour:
		unit = time.Minute
	case d >= 10*time.Second:
		unit = time.Second
	}
	return d.Truncate(unit).String()
}
