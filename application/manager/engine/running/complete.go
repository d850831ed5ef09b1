package running

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// The longest texts kept of a run, in bytes. A result fills the store's TEXT
// column to the last byte and not beyond, or the store would refuse it whole.
const (
	maxResult  = 64<<10 - 1
	maxMessage = 4 << 10
)

// persistResults stores the ends, and holds them, with their slots, until the store has
// taken or refused them (engine rule 23). While the store is away all of them
// wait. One that cannot be stored is left to the held loop, because it must not
// hold up others.
func (t *TaskManager) persistResults(items []*attemptResult) {
	for _, f := range items {
		f.clean()
	}
	t.storing.Add(1)
	err := t.storeHeld(items)
	t.storing.Add(-1)
	left := unstored(items)
	if len(left) == 0 {
		return
	}
	timer := t.Clock.NewTimer(time.Hour)
	defer timer.Stop()
	for failures := 1; len(left) > 0; failures++ {
		t.held.add(left, err, t.Clock.Monotonic())
		if failures%20 == 1 {
			t.Logger.Error("ends of runs could not be stored; they are held and sent again",
				"runs", len(left), "error", err)
		}
		if left = t.held.keepStuck(left); len(left) == 0 {
			return
		}
		timer.Reset(min(50*time.Millisecond<<min(failures-1, 7), 5*time.Second))
		<-timer.C()
		err = t.storeHeld(left)
		left = unstored(left)
	}
}

// errNoLease keeps ends back while the node has no right to work and may not
// know it yet: what it reports could be another's.
var errNoLease = errors.New("the node's lease does not hold; ends wait until it beats again")

// storeHeld stores ends while the node's lease holds; on its way down the node
// tries all the same, as the store refuses what is not its own.
func (t *TaskManager) storeHeld(left []*attemptResult) error {
	if !t.Lease.Holds() && !t.slots.isDraining() {
		return errNoLease
	}
	return batch.Bisect(left, t.store, t.storeAlone)
}

func unstored(items []*attemptResult) []*attemptResult {
	var left []*attemptResult
	for _, f := range items {
		if !f.stored {
			left = append(left, f)
		}
	}
	return left
}

// store stores ends. Those that are stored already are left out: when a late
// report among the others could not be judged, the batch comes again in parts.
// What needs a row that somebody else holds for longer than one wait is put off,
// and holds up nothing else (engine rule 10).
func (t *TaskManager) store(items []*attemptResult) error {
	return t.storeIn(context.Background(), items)
}

func (t *TaskManager) storeIn(ctx context.Context, items []*attemptResult) error {
	if items = unstored(items); len(items) == 0 {
		return nil
	}
	err := t.storeTogether(ctx, items, !t.held.locked(items))
	if !errors.Is(err, repository.ErrLocked) {
		return err
	}
	waits := lockWaits
	return t.storeAround(ctx, unstored(items), &waits)
}

// storeTogether sends one completion transaction and tells everybody what it did.
func (t *TaskManager) storeTogether(ctx context.Context, items []*attemptResult, waitForLocks bool) error {
	began := t.Clock.Monotonic()
	definitions, err := t.definitions(ctx, items)
	if err != nil {
		return err
	}
	var promoting []*entity.Job
	for _, f := range items {
		if f.coordinated() { // its end may let another run start
			promoting = append(promoting, f.run.Job)
		}
	}
	t.Admitter.Prepare(ctx, promoting...)
	var c completion
	err = t.Store.Write(ctx, repository.LaneComplete, "complete", func(ctx context.Context, tx repository.Tx) error {
		c = completion{manager: t, items: items, waitForLocks: waitForLocks, jobs: definitions, now: t.StoreClock.Now()}
		return c.record(ctx, tx)
	})
	if err != nil {
		if errors.Is(err, repository.ErrCommitUnknown) {
			for _, f := range items {
				f.unanswered = true
			}
		}
		return err
	}
	dropStored(c.logs)
	t.postponeAll(c.locked, errJobLocked)
	t.releaseResults(slices.DeleteFunc(slices.Clone(c.items), func(f *attemptResult) bool { return slices.Contains(c.refused, f) }))
	t.Commits.AfterCommit(c.effect)
	t.Metrics.CompleteBatch(len(c.items), t.Clock.Monotonic()-began)
	t.report(&c)
	if err := t.handleStaleResults(ctx, c.refused); err != nil {
		return err
	}
	t.releaseResults(c.refused)
	if len(c.locked) > 0 {
		return errJobLocked
	}
	return nil
}

// releaseResults ends the holding of ends that the store took or refused.
func (t *TaskManager) releaseResults(items []*attemptResult) {
	for _, f := range items {
		f.stored = true
	}
	t.held.drop(items)
	t.done(items)
}

// report counts what was stored and tells the observer.
func (t *TaskManager) report(c *completion) {
	for _, d := range c.done {
		t.Metrics.Ended(d.outcome.Status, d.outcome.Reason, d.item.took, d.retried)
		if t.Observer != nil {
			t.Observer(d.item.run.Job, d.observed())
		}
	}
}

// observed is the execution as the observer hears of it. One that waits for its next
// attempt says what the last one came to, which the store keeps with the attempt.
func (d decision) observed() *entity.Execution {
	if !d.retried {
		return d.exec
	}
	exec := *d.exec
	exec.StartTime, exec.EndTime, exec.Duration = d.item.start, d.item.end, d.item.took
	exec.Reason, exec.ErrorMessage = d.outcome.Reason, d.outcome.Message
	return &exec
}

// handleStaleResults looks at the executions that did not take their end. An execution that holds
// it already took it in a transaction whose reply was lost (engine rule 9);
// every other report is late: it is kept as evidence and counts for nothing
// (engine rule 19). What was reported from outside is told to who reported it.
func (t *TaskManager) handleStaleResults(ctx context.Context, refused []*attemptResult) error {
	refused = slices.DeleteFunc(slices.Clone(refused), func(f *attemptResult) bool {
		f.refused = true
		return f.external
	})
	if len(refused) == 0 {
		return nil
	}
	ids := make([]string, len(refused))
	for i, f := range refused {
		ids[i] = f.run.Execution.ID
	}
	execs, err := t.Executions.ByIDs(ctx, ids)
	if err != nil {
		return err
	}
	stored := entity.ByID(execs)
	var reports []entity.LogChunk
	for _, f := range refused {
		exec := stored[f.run.Execution.ID]
		taken, err := t.alreadyStored(ctx, f, exec)
		if err != nil {
			return err
		}
		if taken || f.outcome.Status == entity.StatusWaiting || f.outcome.Detached() && continues(f, exec) {
			continue // what never began, or goes on, has nothing to say
		}
		t.Metrics.RefusedReport()
		t.Logger.Warn("a late report was refused", "execution", f.run.Execution.ID,
			"token", f.run.Execution.Token, "reported", f.outcome.Status)
		if exec != nil {
			reports = append(reports, lateReport(f, exec, t.StoreClock.Now()))
		}
	}
	if len(reports) == 0 {
		return nil
	}
	return t.Store.Write(ctx, repository.LaneLogs, "evidence", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, reports)
	})
}

// alreadyStored reports whether the execution, or the attempt kept of it, holds this very
// end from a transaction whose answer was lost. That the execution is not RUNNING any
// more does not say so: it may have been given up as lost and queued again.
func (t *TaskManager) alreadyStored(ctx context.Context, f *attemptResult, exec *entity.Execution) (bool, error) {
	e := f.run.Execution
	if !f.unanswered || exec == nil {
		return false, nil
	}
	end := f.end.Truncate(time.Millisecond)
	if exec.Token == e.Token && exec.Status.Final() && exec.EndTime.Equal(end) && exec.NodeID == e.NodeID && mayBecome(f.outcome.Status, exec.Status) {
		return true, nil
	}
	attempts, err := t.Executions.Attempts(ctx, e.ID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(attempts, func(a entity.Attempt) bool {
		return a.Attempt == e.Attempt && a.NodeID == e.NodeID && a.Status == f.outcome.Status && a.EndTime.Equal(end)
	}), nil
}

// mayBecome reports whether a run whose attempt was reported to end so may have
// that final state.
func mayBecome(reported, stored entity.Status) bool {
	if reported == entity.StatusSuccess || reported == entity.StatusCancelled {
		return stored == reported
	}
	return stored != entity.StatusSuccess && stored != entity.StatusSkipped
}

func lateReport(f *attemptResult, exec *entity.Execution, now time.Time) entity.LogChunk {
	e := f.run.Execution
	text := "refused: node " + e.NodeID + " reported " + string(f.outcome.Status) +
		" for an attempt that is no longer its own; the run is " + string(exec.Status)
	if f.outcome.Detached() {
		text = "refused: the target of node " + e.NodeID + " accepted an attempt that is no longer the run's, so that it reports in vain; the run is " + string(exec.Status)
	}
	if f.outcome.Message != "" {
		text += "; its message was: " + f.outcome.Message
	}
	number := LineNumber(max(e.Attempt, 1)+1, 0)
	return entity.LogChunk{
		ID: identity.RandomID(now), JobID: e.JobID, ExecutionID: e.ID, Attempt: e.Attempt, Type: entity.LogEvidence,
		SeqFrom: number, SeqTo: number, Content: text, CreateTime: now,
	}
}

// completion is one run of the completion transaction's function.
type completion struct {
	manager *TaskManager
	items   []*attemptResult
	// waitForLocks: it waits for what others have locked. Else locked are the ends that
	// it leaves out.
	waitForLocks bool
	locked       []*attemptResult
	// jobs are current definitions; those of coordinated jobs are locked.
	jobs map[string]*entity.Job
	// groups are those whose limits bound the runs when they started; locked.
	groups  []string
	now     time.Time
	refused []*attemptResult
	done    []decision
	effect  admission.PostCommit
	logs    []pendingLogs
}

// decision is an end that was applied to its execution.
type decision struct {
	item    *attemptResult
	outcome entity.Outcome
	exec    *entity.Execution
	retried bool
}

// pendingLogs are the lines of one journal in a transaction.
type pendingLogs struct {
	from   *logBuffer
	chunks []entity.LogChunk
}

// dropStored drops the lines of a transaction that is committed.
func dropStored(logs []pendingLogs) {
	for _, l := range logs {
		l.from.stored(l.chunks)
	}
}
