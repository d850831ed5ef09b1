package firing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/application/manager/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// resolveUnknown re-reads what an unanswered commit may have written: rows
// that carry my node, epoch and token are mine and run (engine rule 9). A
// commit that lands only after this look leaves rows that the reconciliation
// of held runs finds.
func (m *JobManager) resolveUnknown(ctx context.Context, items []*item, res result, reserved *entity.Slots) error {
	now := m.StoreClock.Now()
	stored, err := m.byID(ctx, items)
	if err != nil {
		return fmt.Errorf("re-read after an unanswered commit: %w", err)
	}
	var runs []entity.Run
	for _, it := range items {
		m.book.settle(it.hint, nil, now) // the next scan reads the cursor anew
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
		m.Starter.Start(runs)
	}
	m.Starter.Notice(res.effect)
	return nil
}

// resolveDuplicates handles fires whose id is in the store although the cursor
// has not passed them. It should never happen; the rows are compared, counted
// and left as they are, and the cursor moves on (engine rule 1).
func (m *JobManager) resolveDuplicates(ctx context.Context, items []*item, now time.Time, reserved *entity.Slots) error {
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
			rows, err := f.Rows(&it.job, now)
			if err != nil {
				return fmt.Errorf("make the runs of fire %s: %w", f.Key, err)
			}
			i := slices.IndexFunc(rows, func(row *entity.Execution) bool { return stored[row.ID] != nil })
			if i < 0 {
				kept = append(kept, f)
				continue
			}
			m.reportDuplicate(rows[i], stored[rows[i].ID])
		}
		it.fires = kept
	}
	return m.commit(ctx, items, now, reserved)
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
		"fire", mine.FireKey, "same", same, "stored_job", stored.JobID, "stored_fire", stored.FireKey)
}

// byID reads the rows that the items would insert.
func (m *JobManager) byID(ctx context.Context, items []*item) (map[string]*entity.Execution, error) {
	var ids []string
	for _, it := range items {
		for _, row := range it.rows {
			ids = append(ids, row.ID)
		}
		for _, f := range it.fires {
			rows, err := f.Rows(&it.job, m.StoreClock.Now())
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
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

// recordOffender deals with the one job of a batch that cannot be fired. What the
// store does not refuse for its values is left as it is, and found again by the
// next scan.
func (m *JobManager) recordOffender(ctx context.Context, it *item, cause error, now time.Time) error {
	var poison *repository.PoisonError
	if !errors.As(cause, &poison) {
		return fmt.Errorf("fire job %s: %w", it.job.ID, cause)
	}
	return m.recordPoison(ctx, it, cause, now)
}

// recordPoison records the fires of one job that the store refuses as
// FAILED(INVALID) rows that hold nothing of the job but its id (rule 10).
func (m *JobManager) recordPoison(ctx context.Context, it *item, cause error, now time.Time) error {
	m.Metrics.PoisonFire()
	m.Logger.Error("the store refuses a fire; it is recorded as failed", "job", it.job.ID, "error", cause)
	why := "the run could not be recorded: " + cause.Error()
	var rows []*entity.Execution
	for _, row := range it.rows {
		rows = append(rows, failed(row, why, now))
	}
	for _, f := range it.fires {
		row, err := f.Skipped(&it.job, now, entity.ReasonInvalid)
		if err != nil {
			return err
		}
		rows = append(rows, failed(row, why, now))
	}
	reduced := &item{hint: it.hint, job: it.job, rows: rows, last: it.last}
	return m.commit(ctx, []*item{reduced}, now, &entity.Slots{})
}

// failed is the reduced row of a fire that could not be stored as it was.
func failed(row *entity.Execution, why string, now time.Time) *entity.Execution {
	if row.SkipCount > 0 {
		return row
	}
	return &entity.Execution{
		ID: row.ID, JobID: row.JobID, FireKey: row.FireKey, ScheduledTime: row.ScheduledTime, DueTime: row.DueTime,
		Trigger: row.Trigger, ShardIndex: row.ShardIndex, ShardTotal: row.ShardTotal, JobVersion: row.JobVersion,
		Priority: 5, Status: entity.StatusFailed, Reason: entity.ReasonInvalid, EndTime: now,
		ErrorMessage: validation.Text(why, 500),
		CreateTime:   now, UpdateTime: now,
	}
}

// recordBroken records that a due job's stored schedule no longer compiles,
// which happens when a time zone leaves the zone data, and pauses the job:
// without a schedule nothing can be planned.
func (m *JobManager) recordBroken(ctx context.Context, job *entity.Job, cause error) {
	m.Logger.Error("a job's schedule does not compile; the job is paused", "job", job.ID, "error", cause)
	now := m.StoreClock.Now()
	fire := coordination.PlannedFire(planning.Fire{Nominal: job.NextFireTime, Due: job.DueTime, Trigger: entity.TriggerSchedule})
	err := m.Store.Write(ctx, repository.LaneFire, "fire.broken", func(ctx context.Context, tx repository.Tx) error {
		locked, err := tx.Jobs.LockFull(ctx, job.ID)
		if err != nil {
			return err
		}
		if !locked.NextFireTime.Equal(job.NextFireTime) || locked.Version != job.Version || locked.Status != entity.JobEnabled {
			return nil
		}
		row, err := fire.Skipped(locked, now, entity.ReasonInvalid)
		if err != nil {
			return err
		}
		row = failed(row, "the job was paused, because its schedule is not valid any more: "+cause.Error(), now)
		if err := tx.Executions.Insert(ctx, []*entity.Execution{row}); err != nil {
			return err
		}
		locked.Status, locked.NextFireTime, locked.DueTime = entity.JobPaused, time.Time{}, time.Time{}
		locked.Version++
		locked.UpdateTime = now
		if err := tx.Jobs.Update(ctx, locked, false); err != nil {
			return err
		}
		return tx.Records.AddEvents(ctx, []entity.Event{event.Final(row, now)})
	})
	if err != nil {
		m.Logger.Error("a broken job could not be paused", "job", job.ID, "error", err)
	}
}
