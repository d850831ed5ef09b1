package baseline

import (
	"fmt"
	"strings"
	"time"
)

// Code says what a finding is about. Rules of alerts have types of the same names.
type Code string

// The codes.
const (
	SlowRun         Code = "SLOW_RUN"
	FasterThanUsual Code = "FASTER_THAN_USUAL"
	FailingMore     Code = "FAILING_MORE"
	DeadlineAtRisk  Code = "DEADLINE_AT_RISK"
)

// Finding is something unusual, with the numbers that explain it.
type Finding struct {
	Code   Code   `json:"code"`
	Params Params `json:"params"`
}

// Params are the numbers of a finding. Figures that say nothing of its code are zero.
type Params struct {
	// ValueMs is how long the run took, or has run if it is Running still.
	ValueMs int64 `json:"valueMs,omitempty"`
	Running bool  `json:"running,omitempty"`
	// UsualMs is the usual duration; 19 of 20 runs take from LowMs to HighMs. LimitMs is
	// where the unusual begins.
	UsualMs int64 `json:"usualMs,omitempty"`
	LowMs   int64 `json:"lowMs,omitempty"`
	HighMs  int64 `json:"highMs,omitempty"`
	LimitMs int64 `json:"limitMs,omitempty"`
	// Cell is the weekday or hour for which this is usual: SUNDAY, or 02; empty is always.
	Cell string `json:"cell,omitempty"`
	// Runs is how many runs taught it.
	Runs int `json:"runs,omitempty"`
	// Failed of the last Window runs failed; usually it is UsualRate, 0 to 1.
	Failed    int     `json:"failed,omitempty"`
	Window    int     `json:"window,omitempty"`
	UsualRate float64 `json:"usualRate,omitempty"`
	// ExpectedEnd is as probably too early as too late. Chance is how probable it is
	// that the run ends after its Deadline, 0 to 1.
	Deadline    time.Time `json:"deadline,omitzero"`
	ExpectedEnd time.Time `json:"expectedEnd,omitzero"`
	Chance      float64   `json:"chance,omitempty"`
}

// Sentence explains the finding in English.
func (f Finding) Sentence() string {
	p := &f.Params
	switch f.Code {
	case SlowRun:
		return fmt.Sprintf("It %s. %s. More than %s is unusual.", p.took(), p.usually(), span(p.LimitMs))
	case FasterThanUsual:
		return fmt.Sprintf("It %s. %s. Less than %s is unusual.", p.took(), p.usually(), span(p.LimitMs))
	case FailingMore:
		return fmt.Sprintf("%d of the last %d runs failed. Usually %.2g %% of them fail, by %d runs before.",
			p.Failed, p.Window, 100*p.UsualRate, p.Runs)
	case DeadlineAtRisk:
		begun := "It has not started"
		if p.Running {
			begun = "It " + p.took()
		}
		return fmt.Sprintf("It will probably end at %s, after its deadline of %s: so do %.0f of 100 such runs. %s. %s.",
			clock(p.ExpectedEnd), clock(p.Deadline), 100*p.Chance, begun, p.usually())
	}
	return string(f.Code)
}

func (p *Params) took() string {
	if p.Running {
		return "has run for " + span(p.ValueMs)
	}
	return "took " + span(p.ValueMs)
}

func (p *Params) usually() string {
	when := "It usually takes"
	if p.Cell != "" && p.Cell[0] <= '9' {
		when = "When it starts from " + p.Cell + ":00 to " + p.Cell + ":59, it usually takes"
	} else if p.Cell != "" {
		when = "On " + p.Cell[:1] + strings.ToLower(p.Cell[1:]) + "s it usually takes"
	}
	return fmt.Sprintf("%s %s, nearly always from %s to %s, by %d runs",
		when, span(p.UsualMs), span(p.LowMs), span(p.HighMs), p.Runs)
}

// span shows three digits of a duration, or seconds.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }
