package entity

import "time"

// LedgerQuery asks for the fires of a job in [From, To). Zero bounds mean the
// last 24 hours and the next hour.
type LedgerQuery struct {
	JobID    string
	From, To time.Time
	Limit    int
	Cursor   string
}

// LedgerEntry is one planned fire, one range of fires, or one time that a
// backfill ran, and what became of it. It is read from rows, never recomputed (engine rule 6).
type LedgerEntry struct {
	FireKey       string
	ScheduledTime time.Time
	// Outcome is an execution status, or PLANNED for a fire to come.
	Outcome string
	// WaitsFor is what a WAITING fire waits for. Shards that no node can take come
	// first.
	WaitsFor Wait
	// Reason and Message are those of the worst shard. The message of a paused span
	// says who paused and why.
	Reason       Reason
	Message      string
	LatenessMs   int64
	ExecutionIDs []string
	// Replays are runs that repeated this fire by hand.
	Replays []string
	// RangeEnd and Count are set for a range of fires; the range is
	// [ScheduledTime, RangeEnd). CountAtLeast marks a count that hit its bound.
	RangeEnd     time.Time
	Count        int
	CountAtLeast bool
	// StartedBy is the execution whose end has started the fire; empty for others.
	StartedBy string
	// Moment orders the lines: that with which the ids of the executions begin. It is the scheduled time, but for fires
	// that the end of another job's fire has started.
	Moment time.Time
}

// OutcomePlanned is the ledger's outcome of a fire that is still to come.
const OutcomePlanned = "PLANNED"
