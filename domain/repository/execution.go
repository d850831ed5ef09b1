package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ClaimRequest asks for runs to start on a node.
type ClaimRequest struct {
	NodeID string
	Epoch  int64
	Limit  int
	Now    time.Time
	// Queues are those that the node takes from; none is the common one alone.
	Queues []entity.Queue
	// Only are the ids of the only runs to take; none is all. Except are those to leave out.
	Only, Except []string
	// Holders are who gets each run of Only, by its id, in place of NodeID and Epoch; none is those two for all.
	Holders map[string]Holder
}

// Holder is who holds a run: a node or a worker, in one of its lives.
type Holder struct {
	NodeID string
	Epoch  int64
}

// HolderOf is who gets the run.
func (r *ClaimRequest) HolderOf(executionID string) Holder {
	if h, ok := r.Holders[executionID]; ok {
		return h
	}
	return Holder{r.NodeID, r.Epoch}
}

// Finish writes a final state, conditional on the holder (engine rule 19).
type Finish struct {
	ID     string
	NodeID string
	Epoch  int64
	Token  int64

	Status       entity.Status
	Reason       entity.Reason
	StartTime    time.Time
	EndTime      time.Time
	Duration     time.Duration
	Progress     int
	ErrorMessage string
	Result       string
	// ExitCode is that of a command whose result is its output, else nil.
	ExitCode *int
}

// ProgressUpdate is what a run says of itself while it runs, conditional on the holder.
type ProgressUpdate struct {
	ID     string
	NodeID string
	Epoch  int64
	Token  int64

	Progress   int
	Checkpoint string
}

// ClaimRange selects rows by claim key: lo ≤ key < hi, in key order.
type ClaimRange struct {
	Lo, Hi entity.ClaimKey
	// AfterID, when not empty, leaves out the rows at Lo whose id is not greater.
	AfterID string
	Limit   int
	// DeadlineBefore, when not zero, keeps only rows whose start deadline has
	// passed at that moment.
	DeadlineBefore time.Time
	// CancelRequested keeps only rows that somebody asked to stop.
	CancelRequested bool
}

// After makes the range begin behind a row, which is the last of a page.
func (q *ClaimRange) After(row *entity.Execution) { q.Lo, q.AfterID = row.Claim, row.ID }

// ExecutionWriter changes executions inside a transaction.
type ExecutionWriter interface {
	// Insert adds rows in id order, many in one statement. ErrDuplicateID or a
	// *PoisonError tell why nothing was inserted.
	Insert(ctx context.Context, rows []*entity.Execution) error
	// Claim takes up to Limit ready rows of the queues together, strictly by priority,
	// then fair time. It makes them RUNNING on the node: attempt and token grow by one.
	// Rows locked by others and rows past their start deadline are passed over. The
	// returned rows hold the new state. With several queues, it does not replace rows that
	// other nodes took at the same moment. So fewer than Limit rows do not mean that there
	// are no more. Rows beside an error are those that it met; none of them is taken.
	Claim(ctx context.Context, r ClaimRequest) ([]*entity.Execution, error)
	// Finish applies each end whose row is still RUNNING under this node, epoch and token.
	// It returns the positions of the others, in ascending order. It takes rows and not ids:
	// after a node's lapse several attempts of one run may end in one batch, and one of them
	// holds. The rows are dated by now, the store's time of the transaction: rules and
	// retention compare that date with what other nodes have written.
	Finish(ctx context.Context, rows []Finish, now time.Time) (refused []int, err error)
	// UpdateProgress stores progress and checkpoint of rows that are RUNNING under this
	// node, epoch and token, and leaves others alone.
	UpdateProgress(ctx context.Context, notes []ProgressUpdate) error
	// RepeatedAlready reports whether a repetition of the same work, which root names, is newer than a run and counts:
	// it is not skipped and not cancelled. except is a repetition that does not count.
	RepeatedAlready(ctx context.Context, root, run, except string) (bool, error)
	// Lock locks and returns the rows by id, in id order; missing ones are left out.
	Lock(ctx context.Context, ids []string) ([]*entity.Execution, error)
	// TryLock is Lock for rows that nobody else has locked; the others are left
	// out. It does not wait.
	TryLock(ctx context.Context, ids []string) ([]*entity.Execution, error)
	// TryLockAt locks and returns the rows that stand under the claim keys, and
	// leaves out those that somebody else has locked.
	TryLockAt(ctx context.Context, keys []entity.ClaimKey) ([]*entity.Execution, error)
	// LiveOf locks and returns those of the runs of a job that are not final and
	// are wanted, in id order. When they are more than limit, it says so and returns
	// none. It looks at everything that is live, and judges by job, fire and claim
	// key alone before it locks.
	LiveOf(ctx context.Context, jobID string, limit int,
		wanted func(*entity.Execution) bool) (rows []*entity.Execution, more bool, err error)
	// Requeue writes the claim keys and update times of locked rows that wait,
	// many in one statement.
	Requeue(ctx context.Context, rows []*entity.Execution) error
	// Close writes the ends of locked rows that wait, as Skip and Cancel
	// make them, many in one statement.
	Close(ctx context.Context, rows []*entity.Execution) error
	// AskToStop writes the cancel requests of locked rows that run, and their
	// reasons, many in one statement.
	AskToStop(ctx context.Context, rows []*entity.Execution) error
	// Update writes every mutable column of a locked row if its status and
	// token are still those given; else apperror.KindConflict, code stale_token.
	Update(ctx context.Context, row *entity.Execution, from entity.Status, token int64) error
}

// ExecutionFilter narrows a list; empty fields do not filter. From and To bound
// the moment in the id: scheduled time of planned runs, creation of others.
type ExecutionFilter struct {
	JobID  string
	Status entity.Status
	// NodeID is the node that runs or ran them, or in whose queue they wait.
	NodeID  string
	Trigger entity.Trigger
	// WaitsFor keeps the WAITING ones that wait for that.
	WaitsFor entity.Wait
	From     time.Time
	To       time.Time
	// Groups are those whose jobs may be seen; nil is all.
	Groups []string
	// Steps keeps inline steps of workflow runs, which are left out where neither JobID nor RunID is given.
	Steps bool
	// RunID keeps the executions of the steps of a workflow run, and RunJobs are the jobs that these may be of.
	RunID   string
	RunJobs []string
}

// ExecutionReader reads committed executions.
type ExecutionReader interface {
	// Get returns apperror.KindNotFound for an unknown id.
	Get(ctx context.Context, id string) (*entity.Execution, error)
	// ByIDs returns those that exist, in no particular order.
	ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error)
	// WithParents is ByIDs with the spans that asked for the runs.
	WithParents(ctx context.Context, ids []string) ([]*entity.Execution, error)
	// Standings returns those that exist, in no particular order, without results, parameters and checkpoints: id, job,
	// node, shard, state, reason, times, message, fire key, trigger, version, claim key, attempt and progress alone.
	Standings(ctx context.Context, ids []string) ([]*entity.Execution, error)
	// OfFire returns the executions of a fire whose key tells the moment with which their ids begin, in id order.
	OfFire(ctx context.Context, jobID, fireKey string) ([]*entity.Execution, error)
	// List is ordered by id, newest first.
	List(ctx context.Context, f ExecutionFilter, p Page) (rows []*entity.Execution, next string, err error)
	// Replays returns, for each id that was repeated by hand, the ids of its repetitions,
	// oldest first. Repetitions of repetitions count too.
	Replays(ctx context.Context, rootIDs []string) (map[string][]string, error)
	// RangeOver returns the range row of a job that began before a moment and ends
	// after it, nil when there is none. It looks at a bounded number of the runs
	// before the moment, which those of a schedule that fires in between exceed.
	RangeOver(ctx context.Context, jobID string, at time.Time) (*entity.Execution, error)
	// Recent returns up to limit of a job's newest runs, newest first: id, status,
	// node, claim key, start and update time alone. Fires that were not run are
	// among them.
	Recent(ctx context.Context, jobID string, limit int) ([]*entity.Execution, error)
	// Outcomes returns up to limit of a job's newest runs with an id below before, newest first;
	// an empty before is no bound. It fills id, job, fire key, shard, what it repeats, status, the
	// end of a range, scheduled, end and update time alone. A row that cannot be read says so in
	// Unreadable.
	Outcomes(ctx context.Context, jobID, before string, limit int) ([]*entity.Execution, error)
	// Attempts are the former attempts of a run, oldest first.
	Attempts(ctx context.Context, executionID string) ([]entity.Attempt, error)
	// Usages are what the attempts of a run took, by their numbers; attempts without a usage are not in it.
	Usages(ctx context.Context, executionID string) (map[int]entity.Usage, error)
	// Holds are those of the attempts of runs.
	Holds(ctx context.Context, executionIDs []string) ([]entity.Hold, error)
}

// ClaimReader answers the engine's questions to the claim index.
type ClaimReader interface {
	// Range returns rows by claim key, in key order, without locking.
	Range(ctx context.Context, r ClaimRange) ([]*entity.Execution, error)
	// CountRange counts rows by claim key, at most limit.
	CountRange(ctx context.Context, r ClaimRange) (int, error)
	// First returns the smallest claim key in [lo, hi), or "".
	First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error)
	// Last returns the greatest claim key in [lo, hi), or "".
	Last(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error)
	// WaitingOf returns ids of runs of a job that wait, at most limit, in no
	// particular order. It looks at everything that is live.
	WaitingOf(ctx context.Context, jobID string, limit int) ([]string, error)
	// OpenOf returns the ids of the open roots of a workflow.
	OpenOf(ctx context.Context, jobID string) ([]string, error)
	// Held returns the rows that run on a node, whatever their epoch. It fills id, job,
	// node, status, token, attempt, epoch, and the cancel request with its reason.
	Held(ctx context.Context, nodeID string) ([]*entity.Execution, error)
	// HeldByAll is Held of many workers at once, in no order.
	HeldByAll(ctx context.Context, workerIDs []string) ([]*entity.Execution, error)
	// HeldBy are the ids of those who hold runs in a part of entity.HeldSpan, each once, in order.
	HeldBy(ctx context.Context, span entity.ClaimSpan) ([]string, error)
}

// FireCount is what counts of a job's in-flight fires.
type FireCount struct {
	// Active is how many hold a slot of the job.
	Active int
	// FirstQueued is the Seq of the first that waits for one; 0 when none does.
	FirstQueued int64
}

// Oldest asks for the first in-flight fires of a job, in the order of their Seq.
type Oldest struct {
	JobID  string
	Active bool
	Limit  int
}

// InFlightFireWriter keeps the slots of coordinated jobs, inside a transaction
// that holds the job's lock. No question costs more where a queue is long, but
// CountQueued.
type InFlightFireWriter interface {
	// Count counts the in-flight fires of jobs that exist.
	Count(ctx context.Context, jobIDs []string) (map[string]FireCount, error)
	// CountQueued counts the fires of a job that wait for a slot, at most limit.
	CountQueued(ctx context.Context, jobID string, limit int) (int, error)
	// Oldest returns what is asked of each job, in that order.
	Oldest(ctx context.Context, asked []Oldest) ([]entity.InFlightFire, error)
	// Some returns those of the fires that are live; only their keys are read.
	Some(ctx context.Context, fires []entity.InFlightFire) ([]entity.InFlightFire, error)
	Insert(ctx context.Context, fires []entity.InFlightFire) error
	// Update writes Active and Remaining.
	Update(ctx context.Context, fires []entity.InFlightFire) error
	Delete(ctx context.Context, fires []entity.InFlightFire) error
	// ExecutionsOf returns the executions that are not final of one in-flight fire, in id
	// order, locked.
	ExecutionsOf(ctx context.Context, f entity.InFlightFire) ([]*entity.Execution, error)
}
