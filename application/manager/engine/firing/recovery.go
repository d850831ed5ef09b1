package firing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/storeretry"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// resolveUnknown re-reads what an unanswered commit may have written, until the store
// answers: executions that carry my node, epoch and token are mine and run (engine rule
// 9). A commit that lands only after this look leaves executions that the
// reconciliation of held runs finds.
func (m *attempt) resolveUnknown(ctx context.Context, items []*item, res result, starts *direct.Batch) error {
	now := m.StoreClock.Now()
	var stored map[string]*entity.Execution
	//nolint:contextcheck // the node's work outlives the call
	err := storeretry.Read(m.working, m.Clock, func() (err error) {
		stored, err = m.byID(ctx, items)
		return err
	})
	if err != nil {
		return fmt.Errorf("re-read after an unanswered commit: %w", err)
	}
	var runs []entity.Run
	for _, it := range items {
		it.done = true
		m.dueSet.FinishFiring(it.due, nil, now) // the next scan reads the cursor anew
	}
	// Only what the transaction fired: somebody else may have fired a dropped job, and this node may have claimed and
	// started that execution under the same token.
	for _, it := range res.fired {
		for _, exec := range it.direct {
			s := stored[exec.ID]
			if s != nil && s.HeldAs(exec) {
				job := it.job
				runs = append(runs, entity.Run{Job: &job, Execution: exec})
			}
		}
	}
	m.Logger.Warn("a commit was not answered; its rows were read again",
		"fires", len(items), "started", len(runs))
	starts.Start(runs)
	m.Commits.AfterCommit(res.postCommit)
	return nil
}

// resolveDuplicates handles fires whose id is in the store although the cursor
// has not passed them. It should never happen; the executions are compared, counted
// and left as they are, and the cursor moves on (engine rule 1).
func (m *attempt) resolveDuplicates(ctx context.Context, items []*item, now time.Time, waitForLocks bool,
	starts *direct.Batch,
) error {
	stored, err := m.byID(ctx, items)
	if err != nil {
		return fmt.Errorf("re-read fires that were recorded before: %w", err)
	}
	if len(stored) == 0 {
		return &repository.PoisonError{Err: repository.ErrDuplicateID}
	}
	for _, it := range items {
		it.execs, it.direct = m.withoutStored(it, it.execs, stored)
		kept := it.fires[:0]
		for _, f := range it.fires {
			execs := entity.NewExecutions(&it.job, f, now)
			i := slices.IndexFunc(execs, func(exec *entity.Execution) bool { return stored[exec.ID] != nil })
			if i < 0 {
				kept = append(kept, f)
				continue
			}
			m.reportDuplicate(execs[i], stored[execs[i].ID])
		}
		it.fires = kept
	}
	return m.commit(ctx, items, now, waitForLocks, starts)
}

func (m *JobManager) withoutStored(it *item, execs []*entity.Execution,
	stored map[string]*entity.Execution,
) (kept, direct []*entity.Execution) {
	for _, exec := range execs {
		if s := stored[exec.ID]; s != nil {
			m.reportDuplicate(exec, s)
			continue
		}
		kept = append(kept, exec)
	}
	for _, exec := range it.direct {
		if stored[exec.ID] == nil {
			direct = append(direct, exec)
		}
	}
	return kept, direct
}

func (m *JobManager) reportDuplicate(mine, stored *entity.Execution) {
	same := mine.JobID == stored.JobID && mine.FireKey == stored.FireKey &&
		mine.ShardIndex == stored.ShardIndex && mine.ScheduledTime.Equal(stored.ScheduledTime)
	m.Metrics.DuplicateFire()
	m.Logger.Error("a planned fire was recorded before", "execution", mine.ID, "job", mine.JobID,
		"fire", mine.FireKey, "same", same, "storedJob", stored.JobID, "storedFire", stored.FireKey)
}

// byID reads the executions that the items would insert.
func (m *JobManager) byID(ctx context.Context, items []*item) (map[string]*entity.Execution, error) {
	var ids []string
	for _, it := range items {
		ids = append(ids, entity.IDsOf(it.execs)...)
		for _, f := range it.fires {
			ids = append(ids, entity.IDsOf(entity.NewExecutions(&it.job, f, m.StoreClock.Now()))...)
		}
	}
	execs, err := m.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	return entity.ByID(execs), nil
}
