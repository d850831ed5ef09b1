package entity

import (
	"encoding/json"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// IsStep reports whether the execution is one of a step inside of a workflow run.
func (e *Execution) IsStep() bool { return identity.IsStepKey(e.FireKey) }

// Inline reports whether the execution is one of a step whose work stands in the workflow: it goes by the version of
// its run. A job that a step names is no such step; it goes by its own definition.
func (e *Execution) Inline() bool { return identity.IsStepID(e.JobID) }

// StepOf is the workflow run and the step key of a step; ok is false for all other executions.
func (e *Execution) StepOf() (run, step string, ok bool) { return identity.OfStepKey(e.FireKey) }

// Item reports whether the execution is one of a single item of a map: the row of the map stands for all of them.
func (e *Execution) Item() bool { return e.Inline() && strings.IndexByte(e.FireKey, '[') > 0 }

// StepValues are what the placeholders of one step stand for.
type StepValues struct {
	RunID string
	// Outcome is that of all steps which do not run last.
	Outcome string
	// Item is that of a map, as JSON, and Index its position.
	Item  json.RawMessage
	Index int
	// Ends are those of other steps, by name. A step that has not ended is missing.
	Ends map[string]StepEnd
}

// StepEnd is what others may read of a step.
type StepEnd struct {
	Status, Reason string
	// Output is a JSON object, Outputs a list; empty is none.
	Output, Outputs json.RawMessage
	// TooLong says why there is no output, where it is too long to be handed on.
	TooLong string
	// Count is an object of numbers.
	Count json.RawMessage
}
