package firing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dueset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// item is one job of a batch: what was planned, and the job as it will be.
type item struct {
	due   *dueset.Due
	job   entity.Job // after the plan has been applied
	execs []*entity.Execution
	// fires are admitted inside the transaction; only for coordinated jobs.
	fires []entity.Fire
	last  time.Time
	// direct are executions that start on this node.
	direct []*entity.Execution
	// done: a transaction has decided about it.
	done bool
}

// advance is the cursor move that stores what was planned.
func (it *item) advance() repository.JobAdvance {
	a := repository.AdvanceOf(&it.job, it.last)
	a.DecidedUntil = it.job.DecidedUntil
	return a
}

// result is what one run of the transaction's function came to. It is made
// anew by each run, because a deadlock makes the store run it again.
type result struct {
	fired   []*item
	dropped []*item
	// locked are those whose job's row somebody else has locked.
	locked     []*item
	execs      []*entity.Execution
	postCommit commit.PostCommit
}

// fire decides and records what is due of the jobs, as much as one batch
// takes. Patiently it waits for rows that somebody else has locked. All due jobs
// are finished, put aside or given back when it returns. A fire that has begun is
// finished although working ends.
func (m *JobManager) fire(working context.Context, dueJobs []*dueset.Due, groups map[string]entity.Group,
	waitForLocks bool,
) error {
	err := batch.Guard(func() error { return m.fireBatch(working, dueJobs, groups, waitForLocks) })
	var panicked *batch.PanicError
	if errors.As(err, &panicked) {
		for _, h := range dueJobs { // the next scan finds what is still due
			m.dueSet.FinishFiring(h, nil, m.StoreClock.Now())
		}
	}
	return err
}

func (m *JobManager) fireBatch(working context.Context, dueJobs []*dueset.Due, groups map[string]entity.Group,
	waitForLocks bool,
) error {
	ctx := context.WithoutCancel(working)
	began := m.Clock.Monotonic()
	now := m.StoreClock.Now()
	items := m.planBatch(ctx, dueJobs, groups, now)
	b := attempt{m, now, waitForLocks, working, lockWaits}
	var errs []error
	for _, part := range splitByGroup(items) {
		if err := b.record(ctx, part); err != nil {
			errs = append(errs, err)
			for _, it := range part {
				m.dueSet.FinishFiring(it.due, nil, now)
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	m.Metrics.FireBatch(len(items), m.Clock.Monotonic()-began)
	return nil
}

// lockWaits bounds the lock waits of one batch in search of what is locked.
const lockWaits = 3

// attempt is one try to record a batch.
type attempt struct {
	*JobManager
	now          time.Time
	waitForLocks bool
	// working ends when the node stops: reads that wait for the store's return end with it.
	working context.Context
	// waits is how many lock waits may still be spent.
	waits int
}

// record records the items of one transaction, in halves where one of them is
// refused by the store or panics, or needs a row that somebody else has locked.
// A locked job is put aside.
func (m *attempt) record(ctx context.Context, items []*item) error {
	err := batch.Walk(m.blame, items, func(it *item) string { return it.job.ID },
		func(part []*item) error { return m.fireAll(ctx, part, m.now, m.waitForLocks) },
		func(it *item, cause error) error { return m.recordAlone(ctx, it, cause, m.now) },
	)
	if !errors.Is(err, repository.ErrLocked) {
		return err
	}
	m.waits--
	items = slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.done })
	if len(items) > 1 && m.waits > 0 && !items[0].job.Limited {
		half := len(items) / 2
		return errors.Join(m.record(ctx, items[:half]), m.record(ctx, items[half:]))
	}
	m.Metrics.LockedFires(len(items))
	for _, it := range items {
		m.dueSet.Lock(it.due, m.now)
	}
	return nil
}

// splitByGroup orders items by job and puts those of each group with a limit into a
// transaction of their own: it waits for the row of the group, which the others
// must not wait for.
func splitByGroup(items []*item) (parts [][]*item) {
	slices.SortFunc(items, func(a, b *item) int { return strings.Compare(a.job.ID, b.job.ID) })
	var unlimited []*item
	limited := map[string][]*item{}
	for _, it := range items {
		if it.job.Limited {
			limited[it.job.Group] = append(limited[it.job.Group], it)
		} else {
			unlimited = append(unlimited, it)
		}
	}
	if len(unlimited) > 0 {
		parts = append(parts, unlimited)
	}
	for _, group := range slices.Sorted(maps.Keys(limited)) {
		parts = append(parts, limited[group])
	}
	return parts
}

// fireAll reserves slots for what may start here and runs the fire transaction.
func (m *attempt) fireAll(ctx context.Context, items []*item, now time.Time, waitForLocks bool) error {
	m.prepare(ctx, items)
	starts := m.startDirectly(items, now)
	defer starts.Close()
	return m.commit(ctx, items, now, waitForLocks, starts)
}

// prepare lets the routing read what it needs before the transaction.
func (m *JobManager) prepare(ctx context.Context, items []*item) {
	for _, it := range items {
		if it.job.Routing.Strategy != entity.RouteAny || entity.NodeClassOf(&it.job).Handler != "" {
			m.Admitter.Prepare(ctx, &it.job)
		}
	}
}

// startDirectly makes as many executions RUNNING on this node as there are slots of
// their kind, the most urgent first (engine rule 14).
func (m *JobManager) startDirectly(items []*item, now time.Time) *direct.Batch {
	var candidates []*item
	for _, it := range items {
		it.revertStarts()
		if direct.May(m.Runner, &it.job) {
			candidates = append(candidates, it)
		}
	}
	var wanted entity.Slots
	for _, it := range candidates {
		wanted[it.job.SlotKind()] += waiting(it.execs)
	}
	starts := direct.Reserve(m.Slots, m.Runner, wanted)
	if starts.Reserved() != wanted {
		slices.SortStableFunc(candidates, func(a, b *item) int { return b.job.Priority - a.job.Priority })
	}
	for _, it := range candidates {
		for _, exec := range it.execs {
			if starts.Take(&it.job, exec, now) {
				it.direct = append(it.direct, exec)
			}
		}
	}
	return starts
}

// revertStarts makes executions wait again that a former try, which failed, would have
// started here.
func (it *item) revertStarts() {
	for _, exec := range it.direct {
		_ = exec.RevertStart() // it runs, as StartOn has said
	}
	it.direct = nil
}

func waiting(execs []*entity.Execution) int {
	n := 0
	for _, exec := range execs {
		if exec.Status == entity.StatusWaiting {
			n++
		}
	}
	return n
}

// commit runs the fire transaction over the items and then tells everybody.
func (m *attempt) commit(ctx context.Context, items []*item, now time.Time, waitForLocks bool,
	starts *direct.Batch,
) error {
	var res result
	starts.Expect()
	err := m.Store.Write(ctx, repository.LaneFire, "fire", func(ctx context.Context, tx repository.Tx) error {
		res = result{}
		if waitForLocks {
			if _, err := tx.Jobs.Lock(ctx, idsOfItems(items)); err != nil {
				return fmt.Errorf("wait for %d locked jobs: %w", len(items), err)
			}
		}
		return m.write(ctx, tx, items, now, &res)
	})
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return m.resolveUnknown(ctx, items, res, starts)
	case errors.Is(err, repository.ErrDuplicateID):
		return m.resolveDuplicates(ctx, items, now, waitForLocks, starts)
	case err != nil:
		return err
	}
	m.announce(res, now, starts)
	return nil
}

// announce hands the committed executions on: direct starts to the executor, due jobs
// of the next fires to the due set, news to the claimers.
func (m *JobManager) announce(res result, now time.Time, starts *direct.Batch) {
	var runs []entity.Run
	for _, it := range res.fired {
		it.done = true
		job := it.job
		for _, exec := range it.direct {
			runs = append(runs, entity.Run{Job: &job, Execution: exec})
		}
		m.dueSet.FinishFiring(it.due, &job, now)
	}
	for _, it := range res.dropped {
		it.done = true
		m.dueSet.FinishFiring(it.due, nil, now)
	}
	for _, it := range res.locked {
		it.done = true
		m.dueSet.Lock(it.due, now)
	}
	if len(res.locked) > 0 {
		m.Metrics.LockedFires(len(res.locked))
	}
	starts.Start(runs)
	m.Commits.AfterCommit(res.postCommit)
	m.count(res.execs)
}

func (m *JobManager) count(execs []*entity.Execution) {
	type born struct {
		status entity.Status
		reason entity.Reason
	}
	counts := map[born]int{}
	for _, exec := range execs {
		counts[born{exec.Status, exec.Reason}]++
	}
	for b, n := range counts {
		m.Metrics.Fired(b.status, b.reason, n)
	}
}
