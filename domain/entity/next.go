package entity

import "encoding/json"

// NextOn says which end of a fire starts another job.
type NextOn string

// The ends. A fire that is SKIPPED has none.
const (
	NextOnSuccess NextOn = "SUCCESS"
	// NextOnFailure is FAILED, TIMEOUT and DEAD.
	NextOnFailure NextOn = "FAILURE"
	// NextOnEnd is success, failure and CANCELLED.
	NextOnEnd NextOn = "END"
)

// NextOns lists the ends.
func NextOns() []NextOn { return []NextOn{NextOnSuccess, NextOnFailure, NextOnEnd} }

// Matches reports whether the outcome of a fire is such an end.
func (on NextOn) Matches(outcome Status) bool {
	switch on {
	case NextOnSuccess:
		return outcome == StatusSuccess
	case NextOnFailure:
		return outcome.Failed()
	case NextOnEnd:
		return outcome == StatusSuccess || outcome == StatusCancelled || outcome.Failed()
	}
	return false
}

// Meets reports whether one end may be both.
func (on NextOn) Meets(other NextOn) bool {
	return on == other || on == NextOnEnd || other == NextOnEnd
}

// Next is a job that another one starts at the end of its fires (docs/chains.md). It belongs to the
// definition of that job, and nobody changes it after the definition was made.
type Next struct {
	// Job is the id of the job that is started. In a definition that a caller sends it is empty, or what a
	// former resolution left.
	Job string `json:"job"`
	// Name is group/name of that job, as the definition was saved; readers show its present name.
	Name string `json:"name"`
	On   NextOn `json:"on"`
	// Params is a JSON object with placeholders, or empty.
	Params json.RawMessage `json:"params,omitempty"`
}

const (
	// MaxNext bounds the jobs that one job starts.
	MaxNext = 20
	// MaxChainDepth bounds how many jobs start one another in a row, the first one not counted.
	MaxChainDepth = 16
	// ChainSchema is the schema version of the oldest program that knows what an end owes. The store
	// refuses older ones once a job has a Next.
	ChainSchema = 80
)
