package firing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// item is one job of a batch: what was planned, and the job as it will be.
type item struct {
	hint *hint
	job  entity.Job // after the plan has been applied
	rows []*entity.Execution
	// fires are admitted inside the transaction; only for coordinated jobs.
	fires []coordination.Fire
	last  time.Time
	// direct are rows that start on this node.
	direct []*entity.Execution
}

// result is what one run of the transaction's function came to. It is made
// anew by each run, because a deadlock makes the store run it again.
type result struct {
	fired   []*item
	dropped []*item
	rows    []*entity.Execution
	effect  coordination.Effect
}

// fire decides and records everything that is due of the hinted jobs.
func (m *JobManager) fire(ctx context.Context, hints []*hint) error {
	began := m.Clock.Monotonic()
	now := m.StoreClock.Now()
	items := make([]*item, 0, len(hints))
	for _, h := range hints {
		it, err := m.plan(h, now)
		if err != nil {
			m.book.settle(h, nil, now)
			m.Logger.Error("a due job cannot be planned", "job", h.job.ID, "error", err)
			continue
		}
		if it == nil {
			m.book.settle(h, h.job, now) // not due after all: the clock went back
			continue
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b *item) int { return strings.Compare(a.job.ID, b.job.ID) })
	m.prepare(ctx, items)
	reserved := m.startDirectly(items, now)
	err := batch.Bisect(items,
		func(part []*item) error { return m.commit(ctx, part, now, &reserved) },
		func(it *item, cause error) error { return m.recordOffender(ctx, it, cause, now) },
	)
	m.Starter.Release(reserved)
	if err != nil {
		for _, it := range items {
			m.book.settle(it.hint, nil, now)
		}
		return err
	}
	m.Metrics.FireBatch(len(items), m.Clock.Monotonic()-began)
	return nil
}

// prepare lets the routing read what it needs before the transaction.
func (m *JobManager) prepare(ctx context.Context, items []*item) {
	for _, it := range items {
		if it.job.Routing.Strategy != entity.RouteAny || entity.NodeClassOf(&it.job).Handler != "" {
			m.Places.Prepare(ctx, &it.job)
		}
	}
}

// plan decides what is due of one job; nil when nothing is.
func (m *JobManager) plan(h *hint, now time.Time) (*item, error) {
	plan := Decide(h.job, h.sched, now, m.cfg.PlanLimit)
	if plan.Skip == nil && len(plan.Fires) == 0 {
		return nil, nil
	}
	it := &item{hint: h, job: *h.job}
	if plan.Skip != nil {
		it.rows = append(it.rows, coordination.Range(h.job, *plan.Skip, now))
	}
	for _, f := range plan.Fires {
		fire := coordination.PlannedFire(f)
		if h.job.Coordinated() {
			it.fires = append(it.fires, fire)
			continue
		}
		rows, err := fire.Rows(h.job, now)
		if err != nil {
			return nil, fmt.Errorf("make the runs of fire %s: %w", fire.Key, err)
		}
		it.rows = append(it.rows, rows...)
	}
	it.last = Apply(&it.job, h.sched, plan)
	return it, nil
}

// startDirectly makes as many rows RUNNING on this node as there are slots of
// their kind, the most urgent first (engine rule 14). It returns the slots it
// reserved.
func (m *JobManager) startDirectly(items []*item, now time.Time) (reserved entity.Slots) {
	var candidates []*item
	for _, it := range items {
		if !it.job.Coordinated() && it.job.Routing.Strategy == entity.RouteAny && m.Starter.Suits(&it.job) {
			candidates = append(candidates, it)
		}
	}
	var wanted entity.Slots
	for _, it := range candidates {
		wanted[it.job.SlotKind()] += waiting(it.rows)
	}
	if wanted == (entity.Slots{}) {
		return wanted
	}
	reserved = m.Starter.Reserve(wanted)
	if reserved != wanted {
		slices.SortStableFunc(candidates, func(a, b *item) int { return b.job.Priority - a.job.Priority })
	}
	node, epoch := m.Starter.Holder()
	left := reserved
	for _, it := range candidates {
		kind := it.job.SlotKind()
		for _, row := range it.rows {
			if left[kind] == 0 {
				break
			}
			if row.Status != entity.StatusWaiting {
				continue
			}
			row.Status, row.NodeID, row.Epoch = entity.StatusRunning, node, epoch
			row.Token, row.Attempt, row.StartTime = 1, 1, now
			row.Claim = entity.RunningKey(node)
			it.direct = append(it.direct, row)
			left[kind]--
		}
	}
	return reserved
}

func waiting(rows []*entity.Execution) int {
	n := 0
	for _, row := range rows {
		if row.Status == entity.StatusWaiting {
			n++
		}
	}
	return n
}

// commit runs the fire transaction over the items and then tells everybody.
// reserved is lowered by the slots that were used.
func (m *JobManager) commit(ctx context.Context, items []*item, now time.Time, reserved *entity.Slots) error {
	var res result
	direct := directOf(items)
	m.Starter.Expect(direct)
	defer m.Starter.Forget(direct)
	err := m.Store.Write(ctx, repository.LaneFire, "fire", func(ctx context.Context, tx repository.Tx) error {
		res = result{}
		return m.record(ctx, tx, items, now, &res)
	})
	switch {
	case errors.Is(err, repository.ErrCommitUnknown):
		return m.resolveUnknown(ctx, items, res, reserved)
	case errors.Is(err, repository.ErrDuplicateID):
		return m.resolveDuplicates(ctx, items, now, reserved)
	case err != nil:
		return err
	}
	m.announce(res, now, reserved)
	return nil
}

// directOf are the rows of the items that start on this node.
func directOf(items []*item) []*entity.Execution {
	var rows []*entity.Execution
	for _, it := range items {
		rows = append(rows, it.direct...)
	}
	return rows
}

// announce hands the committed rows on: direct starts to the executor, hints
// of the next fires to the book, news to the claimers.
func (m *JobManager) announce(res result, now time.Time, reserved *entity.Slots) {
	var runs []entity.Run
	for _, it := range res.fired {
		job := it.job
		for _, row := range it.direct {
			runs = append(runs, entity.Run{Job: &job, Execution: row})
			reserved[job.SlotKind()]--
		}
		m.book.settle(it.hint, &job, now)
	}
	for _, it := range res.dropped {
		m.book.settle(it.hint, nil, now)
	}
	if len(runs) > 0 {
		m.Starter.Start(runs)
	}
	m.Starter.Notice(res.effect)
	m.count(res.rows)
}

func (m *JobManager) count(rows []*entity.Execution) {
	type born struct {
		status entity.Status
		reason entity.Reason
	}
	counts := map[born]int{}
	for _, row := range rows {
		counts[born{row.Status, row.Reason}]++
	}
	for b, n := range counts {
		m.Metrics.Fired(b.status, b.reason, n)
	}
}
