// Package judge says of workflow runs that a target saw whether they kept the promise: each step once, in its order,
// with what it was to read, and with the end that the rules give it. Order, data and "once" come from the one sequence
// in which the target saw calls begin and end, and not from the rows.
package judge

import (
	"fmt"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The rules that are checked, each with the invariant that it is part of.
const (
	RuleOnce     = "I9.1: each step of a run is one execution a generation"
	RuleOrder    = "I9.2: a step begins after the ends that let it run"
	RuleLost     = "I9.3: every step ends, and each that was to run has run"
	RuleFate     = "I9.4: what a step comes to follows from the ends of its needs"
	RuleItems    = "I9.5: a map runs its items, each once and no more at once than it may"
	RuleOutcome  = "I9.6: the outcome of a run is that of its steps"
	RuleStopped  = "I9.7: nothing is decided in a run that is cancelled or paused"
	RuleClosed   = "I9.8: nothing of a run begins after its end"
	RuleData     = "I9.11: a step reads what those before it were answered"
	RuleVersion  = "I9.12: all steps of a run are of its version"
	RuleRetry    = "I9.1: a retry begins one run, and repeats what did not succeed"
	RuleAgain    = "I9.4: the ends of a run make its fates in any order"
	RuleApproval = "I9.13: an approval is decided once, by as many people as it needs"
)

// Rules lists all of them.
func Rules() []string {
	return []string{
		RuleOnce, RuleOrder, RuleLost, RuleFate, RuleItems, RuleOutcome, RuleStopped, RuleClosed, RuleData, RuleVersion,
		RuleApproval, RuleRetry, RuleAgain,
	}
}

// Flow is a workflow as the test defined it.
type Flow struct {
	ID, Name   string
	Definition *wf.Definition
	// Whens are the conditions of its steps, by name.
	Whens map[string]When
	// OneAtATime: a run begins after the end of the one before. Replaces: it cancels that one.
	OneAtATime, Replaces bool
	// TimesOut: its runs may take longer than they may. Deleted: somebody deletes it while runs are open.
	TimesOut, Deleted bool
}

// When is a condition: it holds unless the step succeeded and was answered a number that is not above this.
type When struct {
	Step  string
	Above int
}

// Run is a workflow run as the API shows it.
type Run struct {
	ID      string
	Flow    string
	Version int
	Phase   string
	Problem string
	Root    history.Row
	// Steps are its executions.
	Steps []history.Row
}

// Ask is something that a person asked of a run, or of a step of it. Sent and Done are places in the sequence of the
// target; Done is 0 where it was not acknowledged.
type Ask struct {
	Run, Step, Verb string
	Sent, Done      int64
	// Made is the run that an acknowledged retry began.
	Made string
}

// Vote is one that was sent, as an Ask is.
type Vote struct {
	Execution, User, Decision string
	Sent, Done                int64
}

// Ballot is an approval as the API shows it.
type Ballot struct {
	ExecutionID, RunID, Step, Status, Reason string
	// OnTimeout is what it comes to that nobody decides in time.
	OnTimeout string
	Need      int
	Votes     []struct{ User, Decision string }
}

// Evidence is all that is known of workflow runs.
type Evidence struct {
	Flows []Flow
	Runs  []Run
	// After are the runs of jobs that the end of a workflow run starts.
	After   []history.Row
	Calls   []history.Call
	Asks    []Ask
	Votes   []Vote
	Ballots []Ballot
	// Edits and Deletes count texts of workflows that were changed, and workflows that were deleted.
	Edits, Deletes int
}

// Judge lists what is broken. It is called once.
func (j *Case) Judge() []history.Violation {
	for i := range j.Runs {
		p := j.passages[j.Runs[i].ID]
		p.once()
		p.ended()
		p.order()
		p.items()
		p.outcome()
		p.stopped()
		p.data()
	}
	j.strangers()
	j.closed()
	j.versions()
	j.approvals()
	j.retries()
	j.again()
	return j.found
}

// Case is evidence with what follows from it. It is for one goroutine.
type Case struct {
	Evidence
	flows    map[string]Flow
	passages map[string]*passage
	// calls by execution; votes by execution.
	calls map[string][]history.Call
	votes map[string][]Vote
	// asks by run, ballots by execution.
	asks    map[string][]Ask
	ballots map[string][]Ballot
	// parents are the steps that started a run or a job, by the execution.
	parents map[string]parent
	found   []history.Violation
}

type parent struct {
	p    *passage
	step string
}

func (j *Case) violate(rule, format string, args ...any) {
	j.found = append(j.found, history.Violation{Rule: rule, Detail: fmt.Sprintf(format, args...)})
}
