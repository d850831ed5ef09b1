package completion

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The longest texts kept of a run, in bytes. A result fills the store's TEXT
// column to the last byte and not beyond, or the store would refuse it whole.
const (
	maxResult  = 64<<10 - 1
	maxMessage = 4 << 10
)

// persistResults stores the ends, and holds them, with their slots, until the store has taken or refused them (engine
// rule 23). While the store is away all of them wait. It leaves an end that the store does not take for another reason
// to the held loop, because that end must not hold up others.
func (m *Completer) persistResults(items []*Result) {
	for _, f := range items {
		m.clean(f)
	}
	m.storing.Add(1)
	err := m.storeHeld(items)
	m.storing.Add(-1)
	left := unstored(items)
	if len(left) == 0 {
		return
	}
	timer := m.Clock.NewTimer(time.Hour)
	defer timer.Stop()
	for failures := 1; len(left) > 0; failures++ {
		m.held.add(left, err, m.Clock.Monotonic())
		if unknown(err) {
			m.hold(left, err)
		}
		if failures%20 == 1 {
			m.Logger.Error("ends of runs could not be stored; they are held and sent again",
				"runs", len(left), "error", err)
		}
		if left = m.held.keepStuck(left); len(left) == 0 {
			return
		}
		timer.Reset(min(50*time.Millisecond<<min(failures-1, 7), 5*time.Second))
		<-timer.C()
		err = m.storeHeld(left)
		left = unstored(left)
	}
}

// errNoLease keeps ends back while the node has no right to work and may not
// know it yet: what it reports could be another's.
var errNoLease = errors.New("the node's lease does not hold; ends wait until it beats again")

// storeHeld stores ends while the node's lease holds; on its way down the node
// tries all the same, as the store refuses what is not its own.
func (m *Completer) storeHeld(left []*Result) error {
	if !m.Lease.Holds() && !m.Node.Draining() {
		return errNoLease
	}
	for _, f := range left {
		f.endOnly = false // each try begins whole
	}
	return batch.Walk(m.blame, left, (*Result).key, m.store, m.storeAlone)
}

func (f *Result) key() string { return f.Run.Execution.ID }

func unstored(items []*Result) []*Result {
	var left []*Result
	for _, f := range items {
		if !f.stored {
			left = append(left, f)
		}
	}
	return left
}

// store stores ends. Completions that are stored already are left out: when a late
// report among the others could not be judged, the batch comes again in parts.
// A completion whose row somebody else holds for longer than one wait is put off,
// and holds up nothing else (engine rule 10).
func (m *Completer) store(items []*Result) error {
	return m.storeIn(context.Background(), items)
}

func (m *Completer) storeIn(ctx context.Context, items []*Result) error {
	if items = unstored(items); len(items) == 0 {
		return nil
	}
	err := m.storeTogether(ctx, items, !m.held.locked(items))
	if !errors.Is(err, repository.ErrLocked) {
		return err
	}
	waits := lockWaits
	return m.storeAround(ctx, unstored(items), &waits)
}

// storeTogether sends one completion transaction and tells everybody what it did.
func (m *Completer) storeTogether(ctx context.Context, items []*Result, waitForLocks bool) error {
	if items = m.begin(items); len(items) == 0 {
		return nil
	}
	defer pause(items)
	began := m.Clock.Monotonic()
	definitions, err := m.definitions(ctx, items)
	if err != nil {
		return err
	}
	var promoting []*entity.Job
	for _, f := range items {
		if f.coordinated() { // its end may let another run start
			promoting = append(promoting, f.Run.Job)
		}
	}
	m.Admitter.Prepare(ctx, promoting...)
	var c completion
	err = m.Store.Write(ctx, repository.LaneComplete, "complete", func(ctx context.Context, tx repository.Tx) error {
		c = completion{completer: m, items: items, waitForLocks: waitForLocks, jobs: definitions, now: m.StoreClock.Now()}
		c.steady = m.Clock.Monotonic()
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
	c.logs.Committed()
	m.postponeAll(c.locked, errJobLocked)
	taken := slices.DeleteFunc(slices.Clone(c.items), func(f *Result) bool { return slices.Contains(c.refused, f) })
	for _, f := range taken {
		f.receipt = delivery.ReceiptAccepted
	}
	m.releaseResults(taken)
	m.Commits.AfterCommit(c.postCommit)
	m.Metrics.CompleteBatch(len(c.items), m.Clock.Monotonic()-began)
	m.report(&c)
	if err := m.handleStaleResults(ctx, c.refused); err != nil {
		return err
	}
	m.releaseResults(c.refused)
	if len(c.locked) > 0 {
		return errJobLocked
	}
	return nil
}

// releaseResults ends the holding of ends that the store took or refused.
func (m *Completer) releaseResults(items []*Result) {
	for _, f := range items {
		f.stored = true
	}
	m.held.drop(items)
	m.Node.Done(items)
	decide(items)
}

// report counts what was stored and tells the observer.
func (m *Completer) report(c *completion) {
	for _, d := range c.done {
		m.Metrics.Ended(entity.AttemptEnd{
			Job: d.item.Run.Job, ExecutionID: d.exec.ID, Status: d.outcome.Status, Reason: d.outcome.Reason, Took: d.item.Took,
			Retried: d.retried,
		})
		if m.Observer != nil {
			m.Observer(d.item.Run.Job, d.observed())
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
	exec.StartTime, exec.EndTime, exec.Duration = d.item.Start, d.item.End, d.item.Took
	exec.Reason, exec.ErrorMessage = d.outcome.Reason, d.message()
	return &exec
}

// handleStaleResults looks at the executions that did not take their end. An execution that holds
// it already took it in a transaction whose reply was lost (engine rule 9);
// every other report is late: it is kept as evidence and counts for nothing
// (engine rule 19). The outcome of a report from outside is told to its sender.
func (m *Completer) handleStaleResults(ctx context.Context, refused []*Result) error {
	refused = slices.DeleteFunc(slices.Clone(refused), func(f *Result) bool {
		f.refused = true
		return f.external
	})
	if len(refused) == 0 {
		return nil
	}
	ids := make([]string, len(refused))
	for i, f := range refused {
		ids[i] = f.Run.Execution.ID
	}
	execs, err := m.Executions.ByIDs(ctx, ids)
	if err != nil {
		return err
	}
	stored := entity.ByID(execs)
	var reports []entity.LogChunk
	for _, f := range refused {
		exec := stored[f.Run.Execution.ID]
		taken, err := m.taken(ctx, f, exec)
		if err != nil {
			return err
		}
		if taken || f.Outcome.Status == entity.StatusWaiting || f.Outcome.Detached() && continues(f, exec) {
			continue // what never began, or goes on, has nothing to say
		}
		m.Metrics.RefusedReport()
		m.Logger.Warn("a late report was refused", "execution", f.Run.Execution.ID,
			"token", f.Run.Execution.Token, "reported", f.Outcome.Status)
		if exec != nil {
			reports = append(reports, lateReport(f, exec, m.StoreClock.Now()))
		}
	}
	if len(reports) == 0 {
		return nil
	}
	return m.Store.Write(ctx, repository.LaneLogs, "evidence", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, reports)
	})
}

// taken reports whether there is nothing to keep of an end that the store did not take: it holds it already, or a
// worker sends it again. It gives a worker's report its receipt.
func (m *Completer) taken(ctx context.Context, f *Result, exec *entity.Execution) (bool, error) {
	if f.report == nil {
		return m.alreadyStored(ctx, f, exec)
	}
	receipt, err := m.receiptFor(ctx, f, exec)
	f.receipt = receipt
	return receipt != delivery.ReceiptStale, err
}

// alreadyStored reports whether the execution, or the attempt kept of it, holds this very
// end from a transaction whose answer was lost. That the execution is not RUNNING any
// more does not say so: it may have been given up as lost and queued again.
func (m *Completer) alreadyStored(ctx context.Context, f *Result, exec *entity.Execution) (bool, error) {
	e := f.Run.Execution
	if !f.unanswered || exec == nil {
		return false, nil
	}
	end := f.End.Truncate(time.Millisecond)
	if exec.Token == e.Token && exec.Status.Final() && exec.EndTime.Equal(end) && exec.NodeID == e.NodeID &&
		mayBecome(f.Outcome.Status, exec.Status) {
		return true, nil
	}
	attempts, err := m.Executions.Attempts(ctx, e.ID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(attempts, func(a entity.Attempt) bool {
		return a.Attempt == e.Attempt && a.NodeID == e.NodeID && a.Status == f.Outcome.Status && a.EndTime.Equal(end)
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

func lateReport(f *Result, exec *entity.Execution, now time.Time) entity.LogChunk {
	e := f.Run.Execution
	text := "refused: node " + e.NodeID + " reported " + string(f.Outcome.Status) +
		" for an attempt that is no longer its own; the run is " + string(exec.Status)
	if f.Outcome.Detached() && !f.Outcome.Opens() {
		text = "refused: the target of node " + e.NodeID + " accepted an attempt that is no longer the run's, so that it " +
			"reports in vain; the run is " + string(exec.Status)
	}
	if f.Outcome.Message != "" {
		text += "; its message was: " + f.Outcome.Message
	}
	number := entity.LineNumber(max(e.Attempt, 1)+1, 0)
	return entity.LogChunk{
		ID: identity.RandomID(now), JobID: e.JobID, ExecutionID: e.ID, Attempt: e.Attempt, Type: entity.LogEvidence,
		SeqFrom: number, SeqTo: number, Content: text, CreateTime: now,
	}
}

// completion is one run of the completion transaction's function.
type completion struct {
	completer *Completer
	items     []*Result
	// waitForLocks: it waits for what others have locked. Else locked are the ends that
	// it leaves out.
	waitForLocks bool
	locked       []*Result
	// jobs are current definitions; those of coordinated jobs are locked.
	jobs entity.Definitions
	// groups are those whose limits bound the runs when they started; locked.
	groups []string
	now    time.Time
	// steady is now in monotonic time.
	steady  time.Duration
	refused []*Result
	done    []decision
	// opened are roots of workflow runs that begin.
	opened     []*entity.Execution
	postCommit commit.PostCommit
	logs       logbuffer.Lines
}

// decision is an end that was applied to its execution.
type decision struct {
	item    *Result
	outcome entity.Outcome
	exec    *entity.Execution
	retried bool
	// note is of the wait for the next attempt.
	note string
}

// message is that of the attempt, with the note.
func (d decision) message() string {
	message := d.item.Outcome.Message
	if d.note == "" {
		return message
	}
	return validation.Text(message, maxMessage-len(d.note)-2) + "; " + d.note
}
