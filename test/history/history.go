// Package history holds what a test saw of the product from outside, and checks it:
// every planned fire has exactly one recorded outcome, and the rules of rules.go.
package history

import (
	"encoding/json"
	"time"
)

// Job is what the driver knows of a job that it created; the checker plans its
// fires from this, and from nothing that the product says.
type Job struct {
	ID   string
	Name string
	// Step is the distance of its nominal times; zero: it has no grid.
	Step time.Duration
	// Origin is a moment on the grid, or the only one of a ONCE job.
	Origin time.Time
	Once   bool
	// From and Until bound the nominal times that must be accounted for.
	From, Until time.Time
	// Former are the grids of its former schedules, in their order. Between the end of one and the begin of the next, a
	// time of either may be decided, once.
	Former []Grid
	Shards int
	// OneAtATime: the calls of different runs must not overlap.
	OneAtATime bool
	// Delay is the least rest between runs of a FIXED_DELAY job.
	Delay      time.Duration
	MaxRetries int
	// Called: its runs are calls that the outside ledger sees.
	Called bool
	// OnceOnly: a run that has begun is never begun again (onNodeLoss FAIL).
	OnceOnly bool
	// AtMost is how many of its runs may be called at one time; 0: any number.
	AtMost int
	// Group bounds how many runs of all its jobs may be called at one time, to
	// GroupAtMost; empty: none.
	Group       string
	GroupAtMost int
	// From the first limit of its group on GroupAtMost holds; zero: always.
	LimitFrom time.Time
	// CommandSlots bounds how many of its runs, and of others that have it, one node
	// may run at one time; 0: not asked.
	CommandSlots int
	// Nodes are the only ones that have its handler; none: any may run it.
	Nodes []string
	// Deleted is when it had been deleted; zero: it was not.
	Deleted time.Time
	// Refused: the test has had the store refuse its rows. A run whose result could not be stored as it was says so.
	Refused bool
	// Next are the jobs that its ends start.
	Next []Next
	// Passing: it is a workflow that is deleted while its runs are open.
	Passing bool
	// Flow: it is a workflow. OneAtATime is then said of its runs.
	Flow bool
	// Lines: each of its attempts puts out the same lines.
	Lines bool
}

// Grid are the nominal times of a schedule, and the span in which they must be accounted for.
type Grid struct {
	Step                time.Duration
	Origin, From, Until time.Time
}

// Row is an execution as the API shows it.
type Row struct {
	ID            string
	JobID         string
	FireKey       string
	ScheduledTime time.Time
	Trigger       string
	// StartedBy is the first execution of the fire whose end started this one.
	StartedBy string
	// RetryOf is the run that this one repeats.
	RetryOf      string
	ShardIndex   int
	ShardTotal   int
	Status       string
	Reason       string
	ErrorMessage string
	Result       string
	WaitsFor     string
	Attempt      int
	NodeID       string
	StartTime    time.Time
	EndTime      time.Time
	CreateTime   time.Time
	SkipFrom     time.Time
	SkipTo       time.Time
	SkipCount    int
	// Former are the attempts before the last one.
	Former []Attempt
}

// Final reports whether the run has ended.
func (r Row) Final() bool { return r.Status != "WAITING" && r.Status != "RUNNING" }

// Attempt is a former attempt of a run as the API shows it.
type Attempt struct {
	Attempt int
	Status  string
	Reason  string
	NodeID  string
	// Result is what the target answered this attempt.
	Result    string
	StartTime time.Time
	EndTime   time.Time
}

// Call is one attempt as the target saw it.
type Call struct {
	Execution  string
	Job        string
	Attempt    int
	Shard      int
	Token      int64
	Start, End time.Time
	// Answer is what the target came to.
	Answer Answer
	// Began and Ended are places in the one sequence of all begins and ends that the target saw; 0 is not known.
	Began, Ended int64 `json:",omitempty"`
	// Step is what a step of a workflow run said of itself; nil: it is none.
	Step *StepCall `json:",omitempty"`
	// Gone: the caller had closed its connection before the target saw the call. It excuses
	// nothing; it tells who looks at a violation what was under way.
	Gone bool
}

// StepCall is a call of a step of a workflow run, in its own words.
type StepCall struct {
	Run string
	// Key is its name, with the item in brackets.
	Key     string
	Version int
	// In is what it read of other steps, by their names.
	In map[string]json.RawMessage
	// Out is what the target answered.
	Out string
}

// Answer is how a call ended.
type Answer string

// The answers.
const (
	// AnswerOK and AnswerFailed were given to the caller.
	AnswerOK     Answer = "ok"
	AnswerFailed Answer = "failed"
	// AnswerRefused: the token was lower than one seen before.
	AnswerRefused Answer = "refused"
	// AnswerCut: the caller was gone before the end.
	AnswerCut Answer = "cut"
	// AnswerUnsure: the target has reported the end, has not heard whether that
	// counted, and was then told that the run is over.
	AnswerUnsure Answer = "unsure"
)

// Trigger is a call for a run by hand that was acknowledged.
type Trigger struct {
	Key       string
	JobID     string
	Execution string
}

// History is all that is known of a run of the test, from outside.
type History struct {
	Jobs     []Job
	Rows     []Row
	Calls    []Call
	Triggers []Trigger
	// Unanswered counts triggers whose outcome the API calls unknown: the
	// server was killed while it worked on them. Each made one run or none.
	Unanswered int
	// Cancels are the runs that were asked to end, by people, who give no reason.
	Cancels []string
	// Statistics are those of jobs, once all ends are counted; none were read where
	// it is nil.
	Statistics []Statistic
	// Total are those of the whole cluster, which has no other jobs; nil: they were not read.
	Total *Statistic
	// Cluster is what is known beside this when several nodes ran.
	Cluster Cluster
}

// Violation is a broken rule.
type Violation struct {
	Rule   string
	Detail string
}
