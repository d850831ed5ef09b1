// Package repository declares what the domain asks of a store. There are two
// stores, SQLite and MySQL/MariaDB; one contract suite runs against both.
//
// Writing goes through transactions (Store, Tx), because what must be true of
// several rows at once is made true in one commit. Reading goes through the
// Reader interfaces and sees committed state only.
package repository

import (
	"context"
	"errors"
	"time"
)

// Lane orders writers where the store has only one of them (SQLite): a lower
// lane goes first (engine rule 31). Other stores ignore it.
type Lane int

// The lanes, most urgent first.
const (
	LaneFire Lane = iota
	LaneComplete
	LaneAPI
	LaneLogs
	LaneRetention
)

// Store runs write transactions.
type Store interface {
	// Write runs fn in one READ COMMITTED transaction and commits it. An error
	// of fn rolls everything back and is returned as it is. Deadlocks and lock
	// wait time-outs are retried, so fn may run more than once and must not
	// keep what a former run computed.
	//
	// LaneFire and LaneComplete do not retry a lock wait that times out. The error is
	// ErrLocked, and the caller puts aside what others have locked.
	//
	// When the commit's reply is lost, the error is ErrCommitUnknown. The transaction may
	// or may not have happened, and the caller must read again (engine rule 9). When the
	// store cannot be reached the error is of apperror.KindUnavailable and nothing was
	// written.
	//
	// name labels the transaction in metrics and logs.
	Write(ctx context.Context, lane Lane, name string, fn func(ctx context.Context, tx Tx) error) error
}

// Tx is one write transaction. It is used by one goroutine and is void after
// fn has returned. Lock order everywhere: jobs by id, then groups by name, then
// executions by id (engine rules 8 and 16). Workflow runs come before executions there;
// the end of a root alone, which no decision locks, locks its run behind it.
type Tx struct {
	Jobs          JobWriter
	Executions    ExecutionWriter
	InFlightFires InFlightFireWriter
	Records       RecordWriter
	RunTokens     RunTokenWriter
	Groups        GroupWriter
	WorkerGroups  WorkerGroupHolder
	Workers       WorkerLister
	Backfills     BackfillWriter
	Todos         TodoWriter
	WorkflowRuns  WorkflowRunWriter
	Chains        ChainWriter
	Approvals     ApprovalWriter
	Nodes         NodeReader
	Alerts        AlertWriter
	Statistics    StatisticsWriter
}

// ErrCommitUnknown is returned when a commit was sent and no answer came.
var ErrCommitUnknown = errors.New("the outcome of the commit is unknown")

// ErrDuplicateID is returned by an insert whose primary key exists. It is an
// alarm: the cursor should have prevented it (engine rule 1).
var ErrDuplicateID = errors.New("a row with this id exists")

// ErrLocked is returned when somebody else holds a row for longer than the
// store lets a transaction wait (engine rules 8 and 11).
var ErrLocked = errors.New("somebody else has locked a row")

// PoisonError is a failure of a statement that repeating it will not mend,
// such as a value that the column cannot hold. The batch is bisected until the
// offender is alone (engine rule 10).
type PoisonError struct{ Err error }

// Error implements error.
func (e *PoisonError) Error() string { return "the store refuses a row: " + e.Err.Error() }

// Unwrap gives the driver's error.
func (e *PoisonError) Unwrap() error { return e.Err }

// UnknownError is an answer of the store that the product does not know. Nobody can say
// whether it is about a row or about the whole store, or whether it passes.
type UnknownError struct{ Err error }

// Error implements error.
func (e *UnknownError) Error() string {
	return "an answer of the store that is not known: " + e.Err.Error()
}

// Unwrap gives the driver's error.
func (e *UnknownError) Unwrap() error { return e.Err }

// TimeSource reads the store's clock, which decides what is due (rule 13).
type TimeSource interface {
	// StoreTime asks the store for its time in UTC.
	StoreTime(ctx context.Context) (time.Time, error)
}

// UnreadableRow is a row that was met and could not be read in whole.
type UnreadableRow struct {
	// Kind is "job", "execution", "group", "node" or "backfill".
	Kind, ID string
	Why      string
	// Since is when it was met first, by the clock of this node.
	Since time.Time
}
