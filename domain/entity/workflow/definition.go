// Package workflow holds what a workflow is made of: its steps and the edges between them, the keys of steps in a run,
// and the state of a run (docs/workflows.md).
package workflow

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// WaitType is that of steps that wait.
const WaitType entity.JobType = "WAIT"

// Definition is the graph of a workflow. Nobody changes it after it was made.
type Definition struct {
	Steps []Step `json:"steps"`
	// OnStepFailure says what a failure does that no edge asks for; empty is GO_ON.
	OnStepFailure OnStepFailure `json:"onStepFailure,omitempty"`
	// HoldSec is how long a failed step is held at most, before the run goes on as with GO_ON; 0 is the default.
	HoldSec int `json:"holdSec,omitempty"`
	// TimeoutSec is that of the job: the time from the opening of a run until it is stopped; 0 is none.
	TimeoutSec int `json:"-"`
}

// Of reads the definition that the data of a workflow hold. No data are one without steps.
func Of(job *entity.Job) (*Definition, error) {
	d := &Definition{TimeoutSec: job.TimeoutSec}
	if job.Data == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(job.Data), d); err != nil {
		return nil, err
	}
	return d, nil
}

// OnStepFailure says what becomes of a run after a failure of a step that no edge asks for.
type OnStepFailure string

// The ways to go on after a failure.
const (
	// GoOn: what needs the success of the step does not run, and other branches go on.
	GoOn OnStepFailure = "GO_ON"
	// Stop: live steps are cancelled, and nothing starts but steps that run last.
	Stop OnStepFailure = "STOP"
	// Hold: what follows the step waits for a person; other branches go on.
	Hold OnStepFailure = "HOLD"
)

// OnStepFailures lists the ways to go on.
func OnStepFailures() []OnStepFailure { return []OnStepFailure{GoOn, Stop, Hold} }

// The bounds of a definition.
const (
	MaxSteps = 200
	MaxEdges = 2000
	// MaxBytes bounds a definition as JSON.
	MaxBytes = bounds.WorkflowBytes
	// MaxName bounds the name of a step, in bytes.
	MaxName = 40
	// MaxDepth bounds how many workflows start one another in a row, the first one included.
	MaxDepth       = 5
	MaxItems       = 10_000
	MaxParallel    = 1000
	MaxGeneration  = 99
	MaxVotes       = 5
	MaxHoldSec     = 7 * day
	MaxApprovalSec = 30 * day
	MaxWaitSec     = 366 * day
	// MaxWhen and MaxText count bytes, and characters of the text that voters read.
	MaxWhen = 1024
	MaxText = 2000

	day = 24 * 3600
)

// The defaults of a definition.
const (
	DefaultHoldSec     = day
	DefaultParallel    = 32
	DefaultApprovalSec = 7 * day
	// DefaultLastSec ends a step that runs last, which nothing else stops.
	DefaultLastSec = 3600
)

// Step is one piece of work. Exactly one of HTTP, Command, Custom, Job, Approval and Wait is set.
type Step struct {
	Name  string `json:"name"`
	Needs []Need `json:"needs,omitempty"`
	// Join says how many of the needs must be met; empty is ALL.
	Join Join `json:"join,omitempty"`
	// MinSuccess is how many of the needs must have succeeded beside.
	MinSuccess int `json:"minSuccess,omitempty"`
	// When is a condition; where it does not hold, the step is skipped.
	When string `json:"when,omitempty"`
	// Tolerate: its failure fails no run, holds none and stops none.
	Tolerate bool `json:"tolerate,omitempty"`
	// Finally: it runs after all others, whatever became of them.
	Finally bool     `json:"finally,omitempty"`
	ForEach *ForEach `json:"forEach,omitempty"`

	HTTP     json.RawMessage `json:"http,omitempty"`
	Command  json.RawMessage `json:"command,omitempty"`
	Custom   *Custom         `json:"custom,omitempty"`
	Job      *NamedJob       `json:"job,omitempty"`
	Approval *Approval       `json:"approval,omitempty"`
	Wait     *Wait           `json:"wait,omitempty"`

	TimeoutSec       int                 `json:"timeoutSec,omitempty"`
	StartDeadlineSec int                 `json:"startDeadlineSec,omitempty"`
	Priority         int                 `json:"priority,omitempty"`
	RetryPolicy      *entity.RetryPolicy `json:"retryPolicy,omitempty"`
	// Output names parts of the result for the steps that follow.
	Output map[string]string `json:"output,omitempty"`
}

// Custom is the work of a handler.
type Custom struct {
	JobClass string          `json:"jobClass"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// NamedJob is a job that exists by itself, also another workflow. Its own limits and shards hold.
type NamedJob struct {
	// Name is that of a job of the same group, or group/name.
	Name string `json:"name"`
	// ID is that of the job which had the name when the workflow was saved; whoever writes a workflow gives none.
	ID     string          `json:"id,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Approval waits for the word of people. With neither users nor teams those may vote who hold the permission.
type Approval struct {
	Users []string `json:"users,omitempty"`
	Teams []string `json:"teams,omitempty"`
	// Need is how many must approve; 0 is one.
	Need       int       `json:"need,omitempty"`
	TimeoutSec int       `json:"timeoutSec,omitempty"`
	OnTimeout  OnTimeout `json:"onTimeout,omitempty"`
	// NotBy excludes the one who triggered the run.
	NotBy NotBy  `json:"notBy,omitempty"`
	Text  string `json:"text,omitempty"`
}

// OnTimeout says what an approval comes to that nobody decided in time; empty is REJECT.
type OnTimeout string

// The ends of an approval without a decision.
const (
	TimeoutRejects  OnTimeout = "REJECT"
	TimeoutApproves OnTimeout = "APPROVE"
	TimeoutFails    OnTimeout = "FAIL"
)

// OnTimeouts lists the ends of an approval without a decision.
func OnTimeouts() []OnTimeout { return []OnTimeout{TimeoutRejects, TimeoutApproves, TimeoutFails} }

// NotBy names someone who may not vote; empty is nobody.
type NotBy string

// NotByTriggerer is the one who triggered the run.
const NotByTriggerer NotBy = "TRIGGERER"

// Wait ends after a while, or at a moment.
type Wait struct {
	ForSec int `json:"forSec,omitempty"`
	// Until is a moment as RFC 3339, or placeholders that make one.
	Until string `json:"until,omitempty"`
}

// ForEach runs a step once for each item of a list.
type ForEach struct {
	// Items is a JSON list, or a text with the one placeholder of one.
	Items json.RawMessage `json:"items"`
	// MaxParallel bounds the items that are live at once; 0 is the default.
	MaxParallel int `json:"maxParallel,omitempty"`
	// MaxItems bounds the list; 0 is the most that there may be.
	MaxItems int       `json:"maxItems,omitempty"`
	Tolerate *Tolerate `json:"tolerate,omitempty"`
}

// Tolerate is how many items may fail; one of both is set.
type Tolerate struct {
	Count   int `json:"count,omitempty"`
	Percent int `json:"percent,omitempty"`
}

// Window is how many items may be live at once.
func (f *ForEach) Window() int {
	if f.MaxParallel > 0 {
		return f.MaxParallel
	}
	return DefaultParallel
}

// Most is how many items the list may have.
func (f *ForEach) Most() int {
	if f.MaxItems > 0 {
		return f.MaxItems
	}
	return MaxItems
}

// Exceeded reports whether more items failed than the map tolerates.
func (f *ForEach) Exceeded(failed, items int) bool {
	switch {
	case f.Tolerate == nil:
		return failed > 0
	case f.Tolerate.Percent > 0:
		return failed*100 > f.Tolerate.Percent*items
	}
	return failed > f.Tolerate.Count
}

// Kind says what a step does.
type Kind string

// The kinds of steps, by the name of their field.
const (
	KindHTTP     Kind = "http"
	KindCommand  Kind = "command"
	KindCustom   Kind = "custom"
	KindJob      Kind = "job"
	KindApproval Kind = "approval"
	KindWait     Kind = "wait"
)

// Kinds lists the kinds of steps.
func Kinds() []Kind {
	return []Kind{KindHTTP, KindCommand, KindCustom, KindJob, KindApproval, KindWait}
}

// Kinds are those of which the step has the field; a valid one has one.
func (s *Step) Kinds() (kinds []Kind) {
	has := map[Kind]bool{
		KindHTTP: s.HTTP != nil, KindCommand: s.Command != nil, KindCustom: s.Custom != nil, KindJob: s.Job != nil,
		KindApproval: s.Approval != nil, KindWait: s.Wait != nil,
	}
	for _, k := range Kinds() {
		if has[k] {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Kind is that of a valid step.
func (s *Step) Kind() Kind {
	if kinds := s.Kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

// HoldFor is how long a failed step is held, in seconds.
func (d *Definition) HoldFor() int {
	if d.HoldSec > 0 {
		return d.HoldSec
	}
	return DefaultHoldSec
}

// Limit is the time-out of a step in seconds; 0 is none.
func (s *Step) Limit() int {
	switch {
	case s.TimeoutSec > 0:
		return s.TimeoutSec
	case s.Approval != nil && s.Approval.TimeoutSec > 0:
		return s.Approval.TimeoutSec
	case s.Approval != nil:
		return DefaultApprovalSec
	case s.Finally:
		return DefaultLastSec
	}
	return 0
}
