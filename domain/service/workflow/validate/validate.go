// Package validate says what is wrong with the definition of a workflow before it is saved: all of it at once, in the
// field names of the API, each with a remedy.
package validate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Conditions checks the conditions of steps.
type Conditions interface {
	// Check returns the names of steps that a condition reads, and everything that it finds wrong.
	Check(when string) (steps, problems []string)
}

// Work checks what the executor of a step is given; the fields are those below the step, such as http.url.
type Work interface {
	Check(step *wf.Step) []apperror.Field
}

// Ports are what a check asks others. Without one of them that part is not checked.
type Ports struct {
	Conditions Conditions
	Work       Work
}

// Result is what a check found.
type Result struct {
	// Faults keep the definition from being saved; Warnings do not.
	Faults, Warnings []apperror.Field
}

// Definition checks a definition.
func Definition(d *wf.Definition, ports Ports) Result {
	c := &checker{d: d, ports: ports, at: map[string]int{}}
	if !c.bounds() {
		return c.Result
	}
	c.nameAll()
	c.modes()
	for i := range d.Steps {
		c.kind(i)
		c.edges(i)
		c.attributes(i)
		c.forEach(i)
	}
	if c.circle() || !c.whole {
		return c.Result
	}
	c.reach()
	for i := range d.Steps {
		c.reads(i)
	}
	c.never()
	return c.Result
}

// checker gathers what is wrong.
type checker struct {
	Result
	d     *wf.Definition
	ports Ports
	// at are the positions of steps by name; whole says that all needs are steps.
	at    map[string]int
	whole bool
	// order has each step after all that it needs.
	order []int
	// ended and succeeded are, for each step, the steps that certainly have when it starts.
	ended, succeeded []map[int]bool
}

func (c *checker) add(field, code, format string, args ...any) {
	c.Faults = append(c.Faults, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// field is that of a step.
func field(i int, format string, args ...any) string {
	return fmt.Sprintf("steps[%d]", i) + fmt.Sprintf(format, args...)
}

// bounds reports whether the definition is small enough to look at.
func (c *checker) bounds() bool {
	edges := 0
	for i := range c.d.Steps {
		edges += len(c.d.Steps[i].Needs)
	}
	text, err := json.Marshal(c.d)
	switch {
	case len(c.d.Steps) == 0:
		c.add("steps", validation.CodeRequired, "give the workflow at least one step")
	case len(c.d.Steps) > wf.MaxSteps:
		c.add("steps", validation.CodeTooMany, "keep at most %d steps; there are %d: let a step start another workflow",
			wf.MaxSteps, len(c.d.Steps))
	case edges > wf.MaxEdges:
		c.add("steps", validation.CodeTooMany, "keep at most %d needs in all; there are %d", wf.MaxEdges, edges)
	case err != nil:
		c.add("steps", validation.CodeInvalid, "cannot be written as JSON: %s", err)
	case len(text) > wf.MaxBytes:
		c.add("steps", validation.CodeTooLarge, "keep at most %d KiB as JSON; there are %d bytes", wf.MaxBytes>>10, len(text))
	}
	return len(c.Faults) == 0
}

func (c *checker) nameAll() {
	c.whole = true
	for i := range c.d.Steps {
		name := c.d.Steps[i].Name
		first, twice := c.at[name]
		switch {
		case name == "":
			c.add(field(i, ".name"), validation.CodeRequired, "give the step a name of a–z, 0–9, - and _")
		case !wf.ValidName(name):
			c.add(field(i, ".name"), validation.CodeInvalid, "%q must be 1–%d of a–z, 0–9, - and _",
				validation.Text(name, 2*wf.MaxName), wf.MaxName)
		case twice:
			c.add(field(i, ".name"), validation.CodeConflict, "%q is the name of steps[%d], too; give another one", name, first)
		}
		if !twice {
			c.at[name] = i
		}
	}
}

func (c *checker) modes() {
	c.oneOf("onStepFailure", string(c.d.OnStepFailure), texts(wf.OnStepFailures()))
	c.between("holdSec", c.d.HoldSec, 0, wf.MaxHoldSec)
	if c.d.HoldSec > 0 && c.d.OnStepFailure != wf.Hold {
		c.add("holdSec", validation.CodeConflict, "is for onStepFailure HOLD alone; leave it out, or hold failed steps")
	}
}

// oneOf checks a word that may be left out.
func (c *checker) oneOf(field, value string, allowed []string) {
	for _, a := range allowed {
		if value == a || value == "" {
			return
		}
	}
	c.add(field, validation.CodeUnknown, "choose one of %s instead of %q%s", strings.Join(allowed, ", "),
		validation.Text(value, 50), meant(value, allowed))
}

func (c *checker) between(field string, n, low, high int) {
	if n < low || n > high {
		c.add(field, validation.CodeOutOfRange, "must be between %d and %d; it is %d", low, high, n)
	}
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// meant asks for the word that a misspelt one was meant to be; empty where none is near.
func meant(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
