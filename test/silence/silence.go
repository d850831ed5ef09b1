// Package silence finds what a scheduler keeps silent about, from its rows and from what receivers
// of messages wrote down alone. It folds fires and judges rules by itself, and shares no code with
// what it checks.
package silence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run is a row of an execution.
type Run struct {
	ID, Job, Fire, RetryOf, Status, Reason string
	// Shards is how many rows the fire has; 0 counts as 1.
	Shards int
	// Range: the row stands for many fires that were left out; Skips is for how many, 0 where it is a run.
	Range bool
	Skips int
	// Due is when a fire of the schedule was due; zero: somebody, or something else, asked for it.
	Due time.Time
	// Made is when the row was written first; Ended is when its end was, zero while it goes on.
	Made, Ended time.Time
}

// Rule is a rule that sees some jobs.
type Rule struct {
	ID string
	// InARow is how many fires in a row have to fail: 1 for a rule about single failures, 0 for one about
	// deadlines.
	InARow int
	// Sees reports whether the rule is about a job.
	Sees func(job string) bool
}

// Alert is a row of an alert.
type Alert struct {
	ID, Rule, Job string
	Open          bool
}

// Message is what the store says of a message that a receiver can read.
type Message struct {
	ID string
	// Sent: the store says that the receiver took it.
	Sent bool
	// Named are the alerts that it named, as the store says.
	Named []string
}

// Receipt is what the receiver wrote down of a message.
type Receipt struct {
	Message string
	Named   []string
}

// Statistic is what the scheduler says of the fires of a job, by their outcomes.
type Statistic struct {
	Job                                                      string
	Runs, Success, Failed, Timeout, Cancelled, Dead, Skipped int
}

// Deadline is a moment by which the fires of a job before it were to have succeeded. It has passed, the job
// went on beyond it, and somebody has judged it.
type Deadline struct {
	Job string
	At  time.Time
}

// Step is a span in which the clock that dates the rows was off, by so much at most.
type Step struct {
	From, Until time.Time
	By          time.Duration
}

// unsure reports whether a moment of a row may be another one, or come twice.
func unsure(steps []Step, at time.Time) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return !at.Before(s.From.Add(-s.By-apart)) && !at.After(s.Until.Add(s.By+apart))
	})
}

// History is what is known at a quiet point: nothing has ended for Quiet, and no event, message or
// alert waits.
type History struct {
	Runs     []Run
	Rules    []Rule
	Alerts   []Alert
	Messages []Message
	Receipts []Receipt
	// Deadlines holds at most one of each job; Statistics may lack jobs.
	Deadlines  []Deadline
	Statistics []Statistic
	// Steps are those of the clock of the rows. All of them were over, by more than they were large, before the
	// end.
	Steps []Step
}

// Quiet is for how long nothing has to have ended.
const Quiet = 5 * time.Second

// apart is how far the dates of two nodes may be apart.
const apart = 2 * time.Second

// Check returns everything that is broken.
func Check(h History) (broken []string) {
	byJob := map[string][]Run{}
	for _, r := range h.Runs {
		byJob[r.Job] = append(byJob[r.Job], r)
	}
	broken = append(broken, open(h, byJob)...)
	broken = append(broken, late(h, byJob)...)
	broken = append(broken, counted(h, byJob)...)
	broken = append(broken, overlaps(byJob, h.Steps)...)
	return append(broken, named(h)...)
}

// about is what an alert is about.
type about struct{ rule, job string }

// opened counts the open alerts.
func opened(alerts []Alert) map[about]int {
	n := map[about]int{}
	for _, a := range alerts {
		if a.Open {
			n[about{a.Rule, a.Job}]++
		}
	}
	return n
}

// open: an alert of a rule about a job is open if, and only if, the last fires of the job failed.
func open(h History, byJob map[string][]Run) (broken []string) {
	isOpen := opened(h.Alerts)
	for job, runs := range byJob {
		failures := failuresInARow(runs)
		for _, rule := range h.Rules {
			if rule.InARow == 0 || !rule.Sees(job) {
				continue
			}
			n, want := isOpen[about{rule.ID, job}], 0
			if failures >= rule.InARow {
				want = 1
			}
			if n != want {
				broken = append(broken, fmt.Sprintf("the last %d fires of the job %s failed, and %d alerts of the rule %s are open",
					failures, job, n, rule.ID))
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// fire is one of a job.
type fire struct {
	good, bad int
	of        int
	at, due   time.Time
	last      string
}

// fold gathers the fires of a job that are over, the latest first.
func fold(runs []Run) (over []*fire) {
	fires := map[string]*fire{}
	for _, r := range runs {
		key, of := "fire "+r.Fire, max(r.Shards, 1)
		if r.RetryOf != "" {
			key, of = "again "+r.ID, 1
		}
		f := fires[key]
		if f == nil {
			f = &fire{of: of, due: r.Due}
			fires[key] = f
		}
		f.last = max(f.last, r.ID)
		switch r.Status {
		case "SUCCESS":
			if f.good++; f.bad == 0 && r.Ended.After(f.at) {
				f.at = r.Ended
			}
		case "FAILED", "TIMEOUT", "DEAD":
			if f.bad++; f.bad == 1 || r.Ended.Before(f.at) {
				f.at = r.Ended
			}
		}
	}
	for _, f := range fires {
		if f.bad > 0 || f.good == f.of {
			over = append(over, f)
		}
	}
	slices.SortFunc(over, func(a, b *fire) int {
		return cmp.Or(b.at.Compare(a.at), strings.Compare(b.last, a.last))
	})
	return over
}

// failuresInARow is how many of the last fires failed, until one that succeeded.
func failuresInARow(runs []Run) (n int) {
	for _, f := range fold(runs) {
		if f.bad == 0 {
			break
		}
		n++
	}
	return n
}

// overlaps: a fire that was left out because another one of its job was live lies in the life of
// another one.
func overlaps(byJob map[string][]Run, steps []Step) (broken []string) {
	for job, runs := range byJob {
		for _, skipped := range runs {
			if skipped.Status != "SKIPPED" || skipped.Reason != "OVERLAP" || skipped.Range || unsure(steps, skipped.Made) {
				continue
			}
			at := skipped.Made
			if !slices.ContainsFunc(runs, func(r Run) bool {
				return r.Fire != skipped.Fire && r.Status != "SKIPPED" && !r.Made.After(at.Add(apart)) &&
					(r.Ended.IsZero() || !r.Ended.Before(at.Add(-apart)))
			}) {
				broken = append(
					broken,
					fmt.Sprintf("the run %s of the job %s was left out at %s for an overlap, and nothing was live",
						skipped.ID, job, at.UTC().Format("15:04:05.000")),
				)
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// named: the receiver has read each alert that the store calls named, and the other way round.
func named(h History) (broken []string) {
	read := map[string]map[string]bool{}
	for _, r := range h.Receipts {
		if read[r.Message] == nil {
			read[r.Message] = map[string]bool{}
		}
		for _, id := range r.Named {
			read[r.Message][id] = true
		}
	}
	for _, m := range h.Messages {
		if !m.Sent {
			continue
		}
		for _, id := range m.Named {
			if !read[m.ID][id] {
				broken = append(broken, fmt.Sprintf("the message %s is said to have named the alert %s, and no body held it",
					m.ID, id))
			}
		}
		for id := range read[m.ID] {
			if !slices.Contains(m.Named, id) {
				broken = append(broken, fmt.Sprintf("a body of the message %s named the alert %s, of which the store knows nothing",
					m.ID, id))
			}
		}
	}
	slices.Sort(broken)
	return broken
}
