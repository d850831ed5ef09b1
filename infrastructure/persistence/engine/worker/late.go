package worker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// LateWorkers implements repository.Workers. The time is read before the rows, so that no lease looks older than it is.
func (r *Workers) LateWorkers(ctx context.Context, shortest time.Duration) ([]worker.Worker, time.Time, error) {
	now, err := r.aside.Pool.StoreTime(ctx)
	if err != nil {
		return nil, now, err
	}
	var rows []row
	err = r.aside.Pool.GORM(ctx, "worker.late").Where("former_epoch > 0 OR status <> ? AND last_beat <= ?",
		string(worker.Down), sqlvalue.TimeArg(now.Add(-shortest))).Find(&rows).Error
	// Sorted here: SQLite would look every worker up by the index of the ids to save a sort of the few that are late.
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.ID, b.ID) })
	return convert.All(rows, row.entity), now, err
}

// ClearFormer implements repository.Workers.
func (r *Workers) ClearFormer(ctx context.Context, w worker.Worker) error {
	_, err := r.aside.ExecAtOnce(ctx, repository.LaneComplete, "worker.clear-former", "UPDATE scheduler_worker SET "+
		"former_epoch = 0, former_until = NULL WHERE id = ? AND former_epoch = ? AND former_until = ?", w.ID,
		w.Former.Epoch, sqlvalue.TimeArg(w.Former.Until))
	return err
}

// DrainWorker implements repository.Workers.
func (r *Workers) DrainWorker(ctx context.Context, id string, draining bool) error {
	if !sqlvalue.IsASCIIID(id) {
		return apperror.NotFound(kind, id)
	}
	to, from := worker.Draining, worker.Up
	if !draining {
		to, from = worker.Up, worker.Draining
	}
	found, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "worker.drain", "UPDATE scheduler_worker SET status = ? WHERE "+
		"id = ? AND status = ?", string(to), id, string(from))
	if err != nil || found == 1 {
		return err
	}
	status, err := sqldb.One(ctx, r.s.Pool, "worker.status", "SELECT status FROM scheduler_worker WHERE id = ?",
		[]any{id}, sqlvalue.ScanText, apperror.NotFound(kind, id))
	if err == nil && status == string(worker.Down) {
		err = apperror.Conflict("worker_down", "the worker is down; it gets no runs until it is back")
	}
	return err // it is so already
}

// ForgetWorkers implements repository.Workers.
func (r *Workers) ForgetWorkers(ctx context.Context, before time.Time) (int, error) {
	n, err := registry.ForgetIdle(ctx, r.s, "worker",
		" FROM scheduler_worker WHERE status = 'DOWN' AND former_epoch = 0 AND last_beat < ?", before)
	if err != nil {
		return n, err
	}
	_, err = r.s.ExecAtOnce(ctx, repository.LaneRetention, "worker.handlers.forget", "DELETE FROM "+
		"scheduler_worker_handlers WHERE create_time < ? AND NOT EXISTS (SELECT 1 FROM scheduler_worker w WHERE "+
		"w.handlers_hash = scheduler_worker_handlers.hash)", sqlvalue.TimeArg(before))
	return n, err
}
