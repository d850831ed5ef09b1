// Package workflow checks what became of workflow runs by rules of its own. It shares no code with the decision, but
// for the definition that both read.
package workflow

import (
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Fate is what a step came to for the steps that need it, as one letter: s(uccess), f(ailure), b(locked), skipped by
// choice (x).
type Fate byte

// The fates.
const (
	Success Fate = 's'
	Failure Fate = 'f'
	Blocked Fate = 'b'
	Skipped Fate = 'x'
)

// asked are the letters that the words of an edge stand for.
func asked(n wf.Need) string {
	if n.On == nil {
		return "s"
	}
	letters := ""
	for _, w := range n.On {
		letters += map[wf.Word]string{
			"success": "s", "failure": "f", "blocked": "b", "skipped": "x", "unsuccessful": "fb", "ok": "sx", "done": "sfbx",
		}[w]
	}
	return letters
}

// AsksFor reports whether an edge asks for that end.
func AsksFor(n wf.Need, f Fate) bool { return in(asked(n), f) }

func in(letters string, f Fate) bool {
	for i := range len(letters) {
		if letters[i] == byte(f) {
			return true
		}
	}
	return false
}

// Runs reports whether the needs of a step let it run, and if not what it is: blocked or skipped. fates are those of
// its needs, in their order.
func Runs(step wf.Step, fates []Fate) (runs bool, otherwise Fate) {
	good, trouble, unasked, successes := 0, 0, 0, 0
	for i, f := range fates {
		if f == Success {
			successes++
		}
		if f == Failure || f == Blocked {
			trouble++
		}
		if AsksFor(step.Needs[i], f) {
			good++
		} else if f == Failure || f == Blocked {
			unasked++
		}
	}
	if len(fates) == 0 {
		return true, 0
	}
	if step.Join == "ANY" {
		if good > 0 {
			return true, 0
		}
	} else if good == len(fates) {
		if successes >= step.MinSuccess {
			return true, 0
		}
		unasked = trouble
	}
	if unasked > 0 {
		return false, Blocked
	}
	return false, Skipped
}

// Evaluate says what every step comes to, from what each would come to if it ran; Skipped is a condition that does not
// hold. Steps that run last are left out.
func Evaluate(d *wf.Definition, would map[string]Fate) map[string]Fate {
	steps := map[string]wf.Step{}
	for _, s := range d.Steps {
		steps[s.Name] = s
	}
	known := map[string]Fate{}
	var of func(name string) Fate
	of = func(name string) Fate {
		if f, is := known[name]; is {
			return f
		}
		s := steps[name]
		fates := make([]Fate, len(s.Needs))
		for i, n := range s.Needs {
			fates[i] = of(n.Step)
		}
		runs, otherwise := Runs(s, fates)
		if runs {
			otherwise = would[name]
		}
		known[name] = otherwise
		return otherwise
	}
	for _, s := range d.Steps {
		if !s.Finally {
			of(s.Name)
		}
	}
	return known
}
