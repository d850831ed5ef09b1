// Package crash kills the real binary under load and checks afterwards, from
// outside, that every planned fire has exactly one recorded outcome.
package crash

import "time"

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
	Shards      int
	// OneAtATime: the calls of different runs must not overlap.
	OneAtATime bool
	// Delay is the least rest between runs of a FIXED_DELAY job.
	Delay      time.Duration
	MaxRetries int
	// Called: its runs are calls that the outside ledger sees.
	Called bool
}

// Row is an execution as the API shows it.
type Row struct {
	ID            string
	JobID         string
	FireKey       string
	ScheduledTime time.Time
	Trigger       string
	ShardIndex    int
	ShardTotal    int
	Status        string
	Reason        string
	Attempt       int
	SkipFrom      time.Time
	SkipTo        time.Time
	SkipCount     int
}

// Call is one attempt as the target saw it.
type Call struct {
	Execution  string
	Job        string
	Attempt    int
	Shard      int
	Token      int64
	Start, End time.Time
}

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
}

// Violation is a broken rule.
type Violation struct {
	Rule   string
	Detail string
}

// The rules that are checked.
const (
	RuleDoubleRow     = "one row for each job, fire and shard"
	RuleMissingFire   = "every planned fire is recorded"
	RuleDecidedTwice  = "every planned fire is decided once"
	RuleExtraFire     = "no fire is recorded that was not planned"
	RuleMissingShard  = "every shard of a fire is recorded"
	RuleStuck         = "nothing is stuck"
	RuleNoReason      = "what did not succeed has a reason"
	RuleDoubleAttempt = "each attempt is made at most once"
	RuleUnseenSuccess = "a success was seen by the target"
	RuleTokenFell     = "fencing tokens never fall"
	RuleOverlap       = "runs that exclude each other do not overlap"
	RuleLostTrigger   = "an acknowledged trigger has exactly one run"
	RuleEarlyDead     = "retries are used up before a run is dead"
	RuleShortRest     = "a fixed delay is kept"
)

// Rules lists all of them.
func Rules() []string {
	return []string{
		RuleDoubleRow, RuleMissingFire, RuleDecidedTwice, RuleExtraFire, RuleMissingShard, RuleStuck, RuleNoReason,
		RuleDoubleAttempt, RuleUnseenSuccess, RuleTokenFell, RuleOverlap, RuleLostTrigger, RuleEarlyDead, RuleShortRest,
	}
}
