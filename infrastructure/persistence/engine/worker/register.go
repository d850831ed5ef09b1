package worker

import (
	"context"
	"errors"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// RegisterWorker implements repository.Workers. The lock of the group lets its registrations count one after the other.
func (r *Workers) RegisterWorker(ctx context.Context, id, group string, begin repository.BeginWorker) (
	next worker.Worker, err error,
) {
	err = r.s.Change(ctx, repository.LaneAPI, "worker-register", func(ctx context.Context, c *sqldb.Conn) error {
		most, err := lockGroup(ctx, c, c.Dialect.ForUpdate, group)
		if apperror.Is(err, apperror.KindNotFound) {
			err = apperror.Conflict("worker_group_gone", "the worker group %s does not exist any more", group)
		}
		if err != nil {
			return err
		}
		now, err := c.StoreTime(ctx)
		if err != nil {
			return err
		}
		former, err := lockRow(ctx, c, id)
		if err != nil {
			return err
		}
		if next, err = begin(former, now); err != nil {
			return err
		}
		if former == nil || former.Status == worker.Down {
			if err := hasRoom(ctx, c, group, int(most)); err != nil {
				return err
			}
		}
		return put(ctx, c, former, &next, sqlvalue.DBTime(now))
	})
	return next, err
}

// lockRow is the row as it is, without its handlers; nil where there is none.
func lockRow(ctx context.Context, c *sqldb.Conn, id string) (*worker.Worker, error) {
	var found row
	err := c.GORM(ctx, "worker.lock").Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := found.entity()
	return &w, nil
}

func hasRoom(ctx context.Context, c *sqldb.Conn, group string, most int) error {
	n, err := c.Number(ctx, "worker.count", "SELECT COUNT(*) FROM scheduler_worker WHERE worker_group = ? AND status <> ?",
		group, string(worker.Down))
	if err == nil && n >= most {
		err = apperror.Conflict("too_many_workers", "the worker group %s has %d workers, and may have no more; raise its "+
			"maxWorkers, or stop some", group, n)
	}
	return err
}

// put writes the row of a life. The list of handlers is touched, so that nobody forgets it meanwhile.
func put(ctx context.Context, c *sqldb.Conn, former, next *worker.Worker, now sqlvalue.DBTime) error {
	next.CreateTime, next.UpdateTime = now.Time(), now.Time()
	if former != nil {
		next.CreateTime = former.CreateTime
	}
	r, err := rowOf(*next)
	if err != nil {
		return err
	}
	list := handlersRow{Hash: r.HandlersHash, Handlers: strings.Join(next.Handlers, "\n"), CreateTime: now}
	err = c.GORM(ctx, "worker.handlers.put").Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "hash"}}, DoUpdates: clause.AssignmentColumns([]string{"create_time"}),
	}).Create(&list).Error
	if err != nil {
		return err
	}
	if former == nil {
		return c.GORM(ctx, "worker.insert").Create(&r).Error
	}
	return c.GORM(ctx, "worker.update").Model(&row{}).Where("id = ?", r.ID).Select("*").Omit("id", "create_time").
		Updates(&r).Error
}
