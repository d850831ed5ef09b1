package group

import (
	"context"
	"database/sql"
	"slices"

	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/inflight"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// slotRow is a row of scheduler_group_place.
type slotRow struct {
	JobID       string
	FireKey     string
	GroupName   string
	ExecutionID *string
}

// TableName implements GORM's Tabler.
func (slotRow) TableName() string { return "scheduler_group_place" }

// Lock implements repository.GroupWriter.
func (w *writer) Lock(ctx context.Context, names []string) (map[string]int, error) {
	limits := make(map[string]int, len(names))
	_, err := sqldb.CollectIn(ctx, w.c, "group.lock", "SELECT name, max_concurrency FROM scheduler_job_group"+
		w.c.Dialect.ByPrimary+" WHERE {in} ORDER BY name"+w.c.Dialect.ForUpdate, "name", sqlvalue.LockOrder(names),
		func(rows *sql.Rows) (name string, err error) {
			var limit int
			err = rows.Scan(&name, &limit)
			limits[name] = limit
			return name, err
		})
	return limits, err
}

// CountSlots implements repository.GroupWriter.
func (w *writer) CountSlots(ctx context.Context, group string) (int, error) {
	return w.c.Number(ctx, "group-place.count", "SELECT COUNT(*) FROM scheduler_group_place WHERE group_name = ?", group)
}

// Take implements repository.GroupWriter.
func (w *writer) Take(ctx context.Context, places []entity.GroupSlot) error {
	rows := make([]slotRow, len(places))
	for i, p := range places {
		rows[i] = slotRow{JobID: p.JobID, FireKey: p.FireKey, GroupName: p.Group}
		if p.ExecutionID != "" {
			rows[i].ExecutionID = &p.ExecutionID
		}
	}
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if err := w.c.GORM(ctx, "group-place.take").Clauses(clause.OnConflict{DoNothing: true}).Create(part).
			Error; err != nil {
			return err
		}
	}
	return nil
}

// Release implements repository.GroupWriter.
func (w *writer) Release(ctx context.Context, fires []entity.InFlightFire) error {
	return inflight.Delete(ctx, w.c, "group-place.release", "scheduler_group_place", fires)
}

// ReleaseJob implements repository.GroupWriter.
func (w *writer) ReleaseJob(ctx context.Context, jobID string) error {
	_, err := w.c.Exec(ctx, "group-place.release-job", "DELETE FROM scheduler_group_place WHERE job_id = ?", jobID)
	return err
}

// Next implements repository.GroupWriter.
func (w *writer) Next(ctx context.Context, group string, limit int) ([]*entity.Execution, error) {
	lo, hi := entity.GroupQueue(group).Range()
	return sqldb.Collect(ctx, w.c, "execution.next", execution.SelectExecutions+w.c.Dialect.ByClaim+
		" WHERE claim_key >= ? AND claim_key < ? ORDER BY claim_key, id LIMIT ?"+w.c.Dialect.SkipLocked,
		[]any{string(lo), string(hi), limit}, execution.ScanExecution)
}

// GroupsWithFreeSlots implements repository.JobPlanReader.
func (r *Groups) GroupsWithFreeSlots(ctx context.Context) ([]string, error) {
	return sqldb.Collect(ctx, r.s.Pool, "group.roomy", `SELECT g.name FROM scheduler_job_group g WHERE g.max_concurrency >
		(SELECT COUNT(*) FROM scheduler_group_place p WHERE p.group_name = g.name) ORDER BY g.name`, nil, sqlvalue.ScanText)
}

// LeftoverSlots implements repository.JobPlanReader. Slots are as few as runs
// may be at once, so that all of them can be looked at.
func (r *Groups) LeftoverSlots(ctx context.Context, after entity.GroupSlot, limit int) ([]entity.GroupSlot, error) {
	return sqldb.Collect(ctx, r.s.Pool, "group-place.empty",
		`SELECT p.group_name, p.job_id, p.fire_key, COALESCE(p.execution_id, '') FROM scheduler_group_place p
		LEFT JOIN scheduler_live_fire f ON f.job_id = p.job_id AND f.fire_key = p.fire_key
		LEFT JOIN scheduler_job_execution e ON e.id = p.execution_id
		WHERE (p.job_id > ? OR p.job_id = ? AND p.fire_key > ?) AND (f.job_id IS NULL OR p.execution_id IS NOT NULL AND e.claim_key IS NULL)
		ORDER BY p.job_id, p.fire_key LIMIT ?`, []any{after.JobID, after.JobID, after.FireKey, limit},
		func(rows *sql.Rows) (p entity.GroupSlot, err error) {
			err = rows.Scan(&p.Group, &p.JobID, &p.FireKey, &p.ExecutionID)
			return p, err
		})
}
