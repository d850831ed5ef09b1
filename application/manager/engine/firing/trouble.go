package firing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/storeretry"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// resolveUnknown re-reads what an unanswered commit may have written, until the
// store answers: rows
// that carry my node, epoch and token are mine and run (engine rule 9). A
// commit that lands only after this look leaves rows that the reconciliation
// of held runs finds.
func (m *attempt) resolveUnknown(ctx context.Context, items []*item, res result, reserved *entity.Slots) error {
	now := m.StoreClock.Now()
	var stored map[string]*entity.Execution
	err := storeretry.Read(m.working, m.Clock, func() (err error) { //nolint:contextcheck // the node's work outlives the call
		stored, err = m.byID(ctx, items)
		return err
	})
	if err != nil {
		return fmt.Errorf("re-read after an unanswered commit: %w", err)
	}
	var runs []entity.Run
	for _, it := range items {
		it.done = true
		m.dueSet.finishFiring(it.hint, nil, now) // the next scan reads the cursor anew
		for _, row := range it.direct {
			s := stored[row.ID]
			if s != nil && s.Status == entity.StatusRunning && s.NodeID == row.NodeID &&
				s.Epoch == row.Epoch && s.Token == row.Token {
				job := it.job
				runs = append(runs, entity.Run{Job: &job, Execution: row})
				reserved[job.SlotKind()]--
			}
		}
	}
	m.Logger.Warn("a commit was not answered; its rows were read again",
		"fires", len(items), "started", len(runs))
	if len(runs) > 0 {
		m.Runner.Start(runs)
	}
	m.Commits.AfterCommit(res.effect)
	return nil
}

// resolveDuplicates handles fires whose id is in the store although the cursor
// has not passed them. It should never happen; the rows are compared, counted
// and left as they are, and the cursor moves on (engine rule 1).
func (m *attempt) resolveDuplicates(ctx context.Context, items []*item, now time.Time, patient bool, reserved *entity.Slots) error {
	stored, err := m.byID(ctx, items)
	if err != nil {
		return fmt.Errorf("re-read fires that were recorded before: %w", err)
	}
	if len(stored) == 0 {
		return &repository.PoisonError{Err: repository.ErrDuplicateID}
	}
	for _, it := range items {
		it.rows, it.direct = m.withoutStored(it, it.rows, stored)
		kept := it.fires[:0]
		for _, f := range it.fires {
			rows := entity.NewExecutions(&it.job, f, now)
			i := slices.IndexFunc(rows, func(row *entity.Execution) bool { return stored[row.ID] != nil })
			if i < 0 {
				kept = append(kept, f)
				continue
			}
			m.reportDuplicate(rows[i], stored[rows[i].ID])
		}
		it.fires = kept
	}
	return m.commit(ctx, items, now, patient, reserved)
}

func (m *JobManager) withoutStored(it *item, rows []*entity.Execution,
	stored map[string]*entity.Execution,
) (kept, direct []*entity.Execution) {
	for _, row := range rows {
		if s := stored[row.ID]; s != nil {
			m.reportDuplicate(row, s)
			continue
		}
		kept = append(kept, row)
	}
	for _, row := range it.direct {
		if stored[row.ID] == nil {
			direct = append(direct, row)
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

// byID reads the rows that the items would insert.
func (m *JobManager) byID(ctx context.Context, items []*item) (map[string]*entity.Execution, error) {
	var ids []string
	for _, it := range items {
		for _, row := range it.rows {
			ids = append(ids, row.ID)
		}
		for _, f := range it.fires {
			for _, row := range entity.NewExecutions(&it.job, f, m.StoreClock.Now()) {
				ids = append(ids, row.ID)
			}
		}
	}
	rows, err := m.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	stored := make(map[string]*entity.Execution, len(rows))
	for _, row := range rows {
		stored[row.ID] = row
	}
	return stored, nil
}
