package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Facts are what a condition may read.
type Facts struct {
	// Params are those of the run, as a JSON object; empty is none.
	Params json.RawMessage
	// Ends are those of the steps that have ended, by name.
	Ends map[string]placeholder.StepEnd
}

// Conditions evaluates conditions of steps. It reads nothing but the facts.
type Conditions interface {
	// Holds is the answer of a condition. The error says why it cannot be evaluated, a *MissingError that a value is not
	// there.
	Holds(when string, facts Facts) (bool, error)
}

// MissingError says that there is no value where a condition reads one.
type MissingError struct {
	// Path are the names that lead to it, such as steps, load, output, rows.
	Path []string
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s has no value in this run", strings.Join(e.Path, "."))
}
