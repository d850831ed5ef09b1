package worker

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const kind = "worker"

// Worker implements repository.Workers.
func (r *Workers) Worker(ctx context.Context, id string) (worker.Worker, error) {
	if !sqlvalue.IsASCIIID(id) {
		return worker.Worker{}, apperror.NotFound(kind, id)
	}
	var found row
	err := r.s.Pool.GORM(ctx, "worker.get").Where("id = ?", id).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return worker.Worker{}, apperror.NotFound(kind, id)
	}
	if err != nil {
		return worker.Worker{}, err
	}
	one, err := workersOf(ctx, r.s.Pool, []row{found})
	if err != nil {
		return worker.Worker{}, err
	}
	return sqldb.NoteUnread(r.s.Pool, one)[0], nil
}

// WorkersByID implements repository.Workers.
func (r *Workers) WorkersByID(ctx context.Context, ids []string) ([]worker.Worker, error) {
	var rows []row
	for part := range slices.Chunk(sqlvalue.OnlyASCIIIDs(ids), r.s.Dialect.MaxRows) {
		var some []row
		if err := r.s.Pool.GORM(ctx, "worker.by-id").Where("id IN ?", part).Find(&some).Error; err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return workersOf(ctx, r.s.Pool, rows)
}

// WorkersAlive implements repository.Workers.
func (r *Workers) WorkersAlive(ctx context.Context) (alive int, draining []string, err error) {
	alive, err = r.s.Pool.Number(ctx, "worker.alive", "SELECT COUNT(*) FROM scheduler_worker WHERE status <> ?",
		string(worker.Down))
	if err != nil || alive == 0 {
		return 0, nil, err
	}
	err = r.s.Pool.GORM(ctx, "worker.draining").Model(&row{}).Where("status = ?", string(worker.Draining)).
		Pluck("id", &draining).Error
	return alive, draining, err
}

// WorkersOf implements repository.Workers.
func (r *Workers) WorkersOf(ctx context.Context, group string, limit int) ([]worker.Worker, error) {
	return readWorkers(ctx, r.s.Pool, group, limit)
}

func readWorkers(ctx context.Context, c *sqldb.Conn, group string, limit int) ([]worker.Worker, error) {
	if !worker.ValidGroup(group) {
		return nil, nil
	}
	var rows []row
	if err := c.GORM(ctx, "worker.of-group").Where("worker_group = ? AND status <> ?", group,
		string(worker.Down)).Order("id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	return workersOf(ctx, c, rows)
}

// lister reads inside of a transaction: repository.WorkerLister.
type lister struct{ c *sqldb.Conn }

// NewLister gives the repository inside of the transaction of c.
func NewLister(c *sqldb.Conn) repository.WorkerLister { return &lister{c} }

// WorkerGroup implements repository.WorkerLister.
func (l *lister) WorkerGroup(ctx context.Context, name string) (worker.Group, error) {
	return groupOf(ctx, l.c, name)
}

// WorkersOf implements repository.WorkerLister.
func (l *lister) WorkersOf(ctx context.Context, group string, limit int) ([]worker.Worker, error) {
	return readWorkers(ctx, l.c, group, limit)
}

// ListWorkers implements repository.Workers.
func (r *Workers) ListWorkers(ctx context.Context, group string, status worker.Status, p repository.Page) (
	[]worker.Worker, string, error,
) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil || group != "" && !worker.ValidGroup(group) {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	query := r.s.Pool.GORM(ctx, "worker.list").Where("id > ?", after)
	if group != "" {
		query = query.Where("worker_group = ?", group)
	}
	if status != "" {
		query = query.Where("status = ?", string(status))
	}
	var rows []row
	if err := query.Order("id").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(r row) string { return r.ID })
	out, err := workersOf(ctx, r.s.Pool, rows)
	return out, next, err
}
