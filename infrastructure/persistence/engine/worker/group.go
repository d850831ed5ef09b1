package worker

import (
	"context"
	"encoding/json"
	"errors"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const groupKind = "worker group"

// Groups keeps worker groups and their tokens: repository.WorkerGroups.
type Groups struct{ s *sqldb.Core }

// NewGroups gives the repository over the connections of s.
func NewGroups(s *sqldb.Core) *Groups { return &Groups{s} }

// groupRow is a row of scheduler_worker_group.
type groupRow struct {
	Name       string `gorm:"column:name;primaryKey"`
	JobGroups  string
	Secrets    bool
	Commands   bool
	Declares   bool
	MaxWorkers int
	Version    int
	CreateTime sqlvalue.DBTime
	UpdateTime sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (groupRow) TableName() string { return "scheduler_worker_group" }

// entity serves no job group where the list cannot be read: what is not known must not widen what a group may do.
func (r groupRow) entity() worker.Group {
	var unread []entity.Unread
	return worker.Group{
		Name: r.Name, JobGroups: sqlvalue.ReadJSON[[]string]("job_groups", r.JobGroups, &unread), Secrets: r.Secrets,
		Commands: r.Commands, Declare: r.Declares, MaxWorkers: r.MaxWorkers, Version: r.Version,
		CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
	}
}

// WorkerGroup implements repository.WorkerGroups.
func (r *Groups) WorkerGroup(ctx context.Context, name string) (worker.Group, error) {
	return groupOf(ctx, r.s.Pool, name)
}

func groupOf(ctx context.Context, c *sqldb.Conn, name string) (worker.Group, error) {
	if !worker.ValidGroup(name) {
		return worker.Group{}, apperror.NotFound(groupKind, name)
	}
	return readGroup(ctx, c, name)
}

func readGroup(ctx context.Context, c *sqldb.Conn, name string) (worker.Group, error) {
	var found groupRow
	err := c.GORM(ctx, "worker.group").Where("name = ?", name).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = apperror.NotFound(groupKind, name)
	}
	return found.entity(), err
}

// WorkerGroups implements repository.WorkerGroups.
func (r *Groups) WorkerGroups(ctx context.Context) ([]worker.Group, error) {
	var rows []groupRow
	err := r.s.Pool.GORM(ctx, "worker.groups").Order("name").Find(&rows).Error
	return convert.All(rows, groupRow.entity), err
}

// PutWorkerGroup implements repository.WorkerGroups.
func (r *Groups) PutWorkerGroup(ctx context.Context, g worker.Group, strand repository.StrandJobs) (
	worker.Group, error,
) {
	if g.JobGroups == nil {
		g.JobGroups = []string{}
	}
	list, err := json.Marshal(g.JobGroups)
	if err != nil {
		return g, err
	}
	err = r.s.Change(ctx, repository.LaneAPI, "worker-group", func(ctx context.Context, c *sqldb.Conn) error {
		now, err := c.StoreTime(ctx)
		if err != nil {
			return err
		}
		next := groupRow{
			Name: g.Name, JobGroups: string(list), Secrets: g.Secrets, Commands: g.Commands, Declares: g.Declare,
			MaxWorkers: g.MaxWorkers, Version: g.Version + 1, CreateTime: sqlvalue.DBTime(now),
			UpdateTime: sqlvalue.DBTime(now),
		}
		if g.Version == 0 {
			// A program that knows no workers would give their runs to nodes.
			if _, err := c.DemandSchema(ctx, worker.Schema); err != nil {
				return err
			}
			err = c.GORM(ctx, "worker.group.insert").Create(&next).Error
			if errors.Is(err, repository.ErrDuplicateID) {
				return apperror.Conflict("worker_group_exists", "the worker group %s exists already", g.Name)
			}
		} else {
			if err := r.mayChange(ctx, c, g, strand); err != nil {
				return err
			}
			changed := c.GORM(ctx, "worker.group.update").Model(&groupRow{}).Where("name = ? AND version = ?", g.Name,
				g.Version).Select("*").Omit("name", "create_time").Updates(&next)
			if err = changed.Error; err == nil && changed.RowsAffected == 0 {
				return r.changed(ctx, c, g.Name)
			}
		}
		if err == nil {
			var stored groupRow
			err = c.GORM(ctx, "worker.group.stored").Where("name = ?", g.Name).Take(&stored).Error
			g = stored.entity()
		}
		return err
	})
	return g, err
}

// mayChange locks a group, and says whether it may become g.
func (r *Groups) mayChange(ctx context.Context, c *sqldb.Conn, g worker.Group, strand repository.StrandJobs) error {
	if _, err := lockGroup(ctx, c, c.Dialect.ForUpdate, g.Name); err != nil {
		return err
	}
	former, err := readGroup(ctx, c, g.Name)
	if err != nil || former.Version != g.Version {
		return err // the change says which version there is
	}
	left, possible := strandedBy(&former, &g)
	if !possible {
		return nil
	}
	return mayStrand(ctx, c, g.Name, left, strand)
}

// changed says why a group did not have the version that was asked for.
func (r *Groups) changed(ctx context.Context, c *sqldb.Conn, name string) error {
	version, err := sqldb.One(ctx, c, "worker.group.version", "SELECT version FROM scheduler_worker_group WHERE name = ?",
		[]any{name}, sqlvalue.ScanInt, apperror.NotFound(groupKind, name))
	if err != nil {
		return err
	}
	return apperror.Conflict("stale_version", "the worker group %s was changed meanwhile and has version %d now; read "+
		"it, and change it again", name, version)
}

// DropWorkerGroup implements repository.WorkerGroups. Its lock keeps registrations and saves of jobs out.
func (r *Groups) DropWorkerGroup(ctx context.Context, name string, strand repository.StrandJobs) error {
	return r.s.Change(ctx, repository.LaneAPI, "worker-group-drop", func(ctx context.Context, c *sqldb.Conn) error {
		if _, err := lockGroup(ctx, c, c.Dialect.ForUpdate, name); err != nil {
			return err
		}
		if err := mayStrand(ctx, c, name, func(*entity.Job) bool { return true }, strand); err != nil {
			return err
		}
		n, err := c.Number(ctx, "worker.group.workers", "SELECT COUNT(*) FROM scheduler_worker WHERE worker_group = ? AND "+
			"status <> 'DOWN'", name)
		if err != nil {
			return err
		}
		if n > 0 {
			return apperror.Conflict("worker_group_in_use", "%d workers of the group %s are there; stop them first", n, name)
		}
		for _, table := range []string{"scheduler_worker_token WHERE worker_group", "scheduler_worker_group WHERE name"} {
			if _, err := c.Exec(ctx, "worker.group.drop", "DELETE FROM "+table+" = ?", name); err != nil {
				return err
			}
		}
		return nil
	})
}

// lockGroup locks the row of a group, so that what counts by it counts alone, or beside others of a shared lock.
func lockGroup(ctx context.Context, c *sqldb.Conn, lock, name string) (maxWorkers int64, err error) {
	if !worker.ValidGroup(name) {
		return 0, apperror.NotFound(groupKind, name)
	}
	return sqldb.One(ctx, c, "worker.group.lock", "SELECT max_workers FROM scheduler_worker_group WHERE name = ?"+lock,
		[]any{name}, sqlvalue.ScanInt, apperror.NotFound(groupKind, name))
}
