package workflow

import (
	"fmt"
	"strconv"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Event is something that was stored of a run.
type Event struct {
	// What is START, MAP, END, STOP or CLOSE. A row that is born final is an END without a START.
	What string
	// Key is that of the step: name, name[3], name~2.
	Key string
	// Status and Reason are those of an END or a CLOSE.
	Status, Reason string
}

// Run is what was stored of one run, in its order, and the lengths of the lists of its maps.
type Run struct {
	Definition *wf.Definition
	Items      map[string]int
	Events     []Event
}

// FateOf reads the status and the reason of a final row.
func FateOf(status, reason string) Fate {
	if status == "SUCCESS" {
		return Success
	}
	if status == "SKIPPED" {
		switch reason {
		case "CONDITION", "UPSTREAM_SKIPPED", "OPERATOR":
			return Skipped
		case "UPSTREAM_FAILED", "RUN_CANCELLED", "RUN_STOPPED":
			return Blocked
		}
	}
	return Failure
}

// Cut reads a key; item is -1 for the step itself.
func Cut(key string) (name string, item, generation int) {
	name, gen, _ := strings.Cut(key, "~")
	generation, item = 1, -1
	if gen != "" {
		generation, _ = strconv.Atoi(gen)
	}
	if n, i, is := strings.Cut(name, "["); is {
		name = n
		item, _ = strconv.Atoi(strings.TrimSuffix(i, "]"))
	}
	return name, item, generation
}

func (e Event) fate() Fate { return FateOf(e.Status, e.Reason) }

// check goes through one run.
type check struct {
	run   Run
	steps map[string]wf.Step
	// started and ended are positions by key, from 1; last is the newest end of each step.
	started, ended map[string]int
	last           map[string]Event
	lastAt         map[string]int
	live           map[string]int // items of each map
	stopped        int
	found          []string
}

func (c *check) wrong(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// Check lists the violations of a run that is over, by the names of the invariants.
func Check(run Run) []string {
	c := &check{
		run: run, steps: map[string]wf.Step{}, started: map[string]int{}, ended: map[string]int{}, last: map[string]Event{},
		lastAt: map[string]int{}, live: map[string]int{},
	}
	for _, s := range run.Definition.Steps {
		c.steps[s.Name] = s
	}
	closed := false
	for i, e := range run.Events {
		switch at := i + 1; e.What {
		case "START", "MAP":
			c.start(e, at)
		case "END":
			c.end(e, at)
		case "STOP":
			c.stopped = at
		case "CLOSE":
			closed = true
			c.close(e)
		}
	}
	if !closed {
		c.wrong("I9.3: the run is not closed")
	}
	return c.found
}

func (c *check) start(e Event, at int) {
	name, item, _ := Cut(e.Key)
	s, known := c.steps[name]
	if !known {
		c.wrong("I9.1: %s is no step", e.Key)
	}
	if c.started[e.Key] > 0 || c.ended[e.Key] > 0 {
		c.wrong("I9.1: %s started twice", e.Key)
	}
	c.started[e.Key] = at
	if c.stopped > 0 && !s.Finally {
		c.wrong("I9.7: %s started after the run was stopped", e.Key)
	}
	if item >= 0 {
		c.live[name]++
		window := s.ForEach.MaxParallel
		if window == 0 {
			window = 32
		}
		if c.live[name] > window {
			c.wrong("I9.5: %s has %d live items, more than %d", name, c.live[name], window)
		}
		if item >= c.run.Items[name] {
			c.wrong("I9.5: %s has no such item", e.Key)
		}
		return
	}
	if s.Finally {
		for other, o := range c.steps {
			if !o.Finally && c.lastAt[other] == 0 {
				c.wrong("I9.2: %s began before %s had ended", e.Key, other)
			}
		}
		return
	}
	final, good := 0, 0
	for _, n := range s.Needs {
		if c.lastAt[n.Step] > 0 {
			final++
			if AsksFor(n, c.last[n.Step].fate()) {
				good++
			}
		}
	}
	if s.Join == "ANY" && len(s.Needs) > 0 && good == 0 || s.Join != "ANY" && final < len(s.Needs) {
		c.wrong("I9.2: %s began before its needs let it", e.Key)
	}
}

func (c *check) end(e Event, at int) {
	name, item, _ := Cut(e.Key)
	if c.ended[e.Key] > 0 {
		c.wrong("I9.1: %s ended twice", e.Key)
	}
	c.ended[e.Key] = at
	if item >= 0 {
		c.live[name]--
		return
	}
	if c.live[name] > 0 {
		c.wrong("I9.8: %s ended with live items", e.Key)
	}
	c.last[name], c.lastAt[name] = e, at
}

func (c *check) close(e Event) {
	failed, lastFailed := false, false
	for key := range c.started {
		if c.ended[key] == 0 {
			c.wrong("I9.8: %s is live in a closed run", key)
		}
	}
	for _, s := range c.run.Definition.Steps {
		end, is := c.last[s.Name]
		if !is {
			c.wrong("I9.3: %s has no end", s.Name)
			continue
		}
		c.fate(s, end)
		c.items(s, end)
		if end.fate() == Failure && !s.Tolerate {
			failed = failed || !s.Finally
			lastFailed = lastFailed || s.Finally
		}
	}
	want := "SUCCESS "
	switch {
	case c.stopped > 0:
		return // the cause of the stop is the outcome
	case failed:
		want = "FAILED STEP_FAILED"
	case lastFailed:
		want = "FAILED FINALLY_FAILED"
	}
	if got := e.Status + " " + e.Reason; got != want {
		c.wrong("I9.6: the outcome is %s, and the steps make it %s", got, want)
	}
}

// fate compares the end of a step with the ends of its needs.
func (c *check) fate(s wf.Step, end Event) {
	if end.Reason == "OPERATOR" || end.Reason == "REUSED" || end.Reason == "RUN_CANCELLED" || end.Reason == "RUN_STOPPED" {
		return
	}
	fates := make([]Fate, len(s.Needs))
	for i, n := range s.Needs {
		fates[i] = c.last[n.Step].fate()
	}
	runs, otherwise := Runs(s, fates)
	reason := map[Fate]string{Blocked: "UPSTREAM_FAILED", Skipped: "UPSTREAM_SKIPPED"}[otherwise]
	notRun := end.Status == "SKIPPED" && strings.HasPrefix(end.Reason, "UPSTREAM_")
	switch {
	case runs && notRun:
		c.wrong("I9.3: %s was to run, and is %s", s.Name, end.Reason)
	case !runs && !notRun:
		c.wrong("I9.4: %s was not to run, and is %s", s.Name, end.Status)
	case !runs && end.Reason != reason:
		c.wrong("I9.4: %s is %s, and its needs make it %s", s.Name, end.Reason, reason)
	}
}

// items counts those of a map.
func (c *check) items(s wf.Step, end Event) {
	if s.ForEach == nil || end.Status == "SKIPPED" || end.Reason == "INVALID" || end.Reason == "OPERATOR" ||
		end.Reason == "REUSED" {
		return
	}
	done, failed := 0, 0
	for i := range c.run.Items[s.Name] {
		for g := 99; g >= 1; g-- {
			key := wf.Key{Name: s.Name, Item: i, Generation: g}.String()
			at := c.ended[key]
			if at == 0 {
				continue
			}
			done++
			if c.run.Events[at-1].Status != "SUCCESS" {
				failed++
			}
			break
		}
	}
	total, most := c.run.Items[s.Name], 0
	if t := s.ForEach.Tolerate; t != nil {
		most = max(t.Count, t.Percent*total/100)
	}
	switch {
	case failed > most && end.Status == "SUCCESS":
		c.wrong("I9.5: %s succeeded with %d failed items", s.Name, failed)
	case failed <= most && end.Status == "FAILED":
		c.wrong("I9.5: %s failed with %d failed items", s.Name, failed)
	case end.Status == "SUCCESS" && done != total:
		c.wrong("I9.5: %s has %d items of %d", s.Name, done, total)
	}
}
