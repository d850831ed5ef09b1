// Package worker keeps workers with their leases, and worker groups with their tokens.
package worker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Workers keeps workers: repository.Workers. Leases are renewed, and looked at over connections of their own, so that
// no crowd of other calls makes a worker look dead.
type Workers struct{ s, aside *sqldb.Core }

// NewWorkers gives the repository over the connections of s; what is about leases asks over those of aside.
func NewWorkers(s, aside *sqldb.Core) *Workers { return &Workers{s, aside} }

// row is a row of scheduler_worker.
type row struct {
	ID             string `gorm:"column:id;primaryKey"`
	WorkerGroup    string
	Instance       string
	BootID         string
	Epoch          int64
	Status         string
	Slots          int
	Running        int
	CommandSlots   int
	CommandRunning int
	Weight         int
	Labels         string
	HandlersHash   string
	SDK            string `gorm:"column:sdk"`
	Runtime        string
	Version        string
	Host           string
	PID            int64 `gorm:"column:pid"`
	Gateway        string
	BeatMs         int64
	LeaseMs        int64
	LastBeat       sqlvalue.DBTime
	FormerEpoch    int64
	FormerUntil    sqlvalue.DBTime
	CreateTime     sqlvalue.DBTime
	BeginTime      sqlvalue.DBTime
	UpdateTime     sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (row) TableName() string { return "scheduler_worker" }

func rowOf(w worker.Worker) (row, error) {
	labels, err := sqlvalue.MapJSON(w.Labels)
	if err != nil {
		return row{}, fmt.Errorf("write the labels of worker %s: %w", w.ID, err)
	}
	return row{
		ID: w.ID, WorkerGroup: w.Group, Instance: w.Instance, BootID: w.Boot, Epoch: w.Epoch, Status: string(w.Status),
		Slots: w.Slots[entity.SlotGeneral], Running: w.Running[entity.SlotGeneral],
		CommandSlots: w.Slots[entity.SlotCommand], CommandRunning: w.Running[entity.SlotCommand],
		Weight: max(w.Weight, 1), Labels: labels, HandlersHash: worker.HandlersHash(w.Handlers),
		SDK: w.SDK, Runtime: w.Runtime, Version: w.Version, Host: w.Host, PID: w.PID, Gateway: w.Gateway,
		BeatMs: w.Beat.Milliseconds(), LeaseMs: w.Lease.Milliseconds(), LastBeat: sqlvalue.DBTime(w.LastBeat),
		FormerEpoch: w.Former.Epoch, FormerUntil: sqlvalue.DBTime(w.Former.Until),
		CreateTime: sqlvalue.DBTime(w.CreateTime), BeginTime: sqlvalue.DBTime(w.BeginTime),
		UpdateTime: sqlvalue.DBTime(w.UpdateTime),
	}, nil
}

func (r row) entity() worker.Worker {
	w := worker.Worker{
		ID: r.ID, Group: r.WorkerGroup, Instance: r.Instance, Boot: r.BootID, Epoch: r.Epoch,
		Status:  worker.Status(r.Status),
		Slots:   entity.Slots{entity.SlotGeneral: r.Slots, entity.SlotCommand: r.CommandSlots},
		Running: entity.Slots{entity.SlotGeneral: r.Running, entity.SlotCommand: r.CommandRunning},
		Weight:  r.Weight, SDK: r.SDK, Runtime: r.Runtime, Version: r.Version, Host: r.Host, PID: r.PID,
		Gateway: r.Gateway, Beat: time.Duration(r.BeatMs) * time.Millisecond,
		Lease: time.Duration(r.LeaseMs) * time.Millisecond, LastBeat: r.LastBeat.Time(),
		Former:     worker.Former{Epoch: r.FormerEpoch, Until: r.FormerUntil.Time()},
		CreateTime: r.CreateTime.Time(), BeginTime: r.BeginTime.Time(), UpdateTime: r.UpdateTime.Time(),
	}
	var unread []entity.Unread
	w.Labels = sqlvalue.ReadJSON[map[string]string]("labels", r.Labels, &unread)
	w.Unreadable = entity.Describe(unread)
	return w
}

// handlersRow is a row of scheduler_worker_handlers.
type handlersRow struct {
	Hash       string `gorm:"column:hash;primaryKey"`
	Handlers   string
	CreateTime sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (handlersRow) TableName() string { return "scheduler_worker_handlers" }

// workersOf makes workers of rows, and reads the lists of their handlers: one statement for all, as most workers of a
// group offer the same.
func workersOf(ctx context.Context, c *sqldb.Conn, rows []row) ([]worker.Worker, error) {
	out := convert.All(rows, row.entity)
	if len(rows) == 0 {
		return out, nil
	}
	hashes := sqlvalue.LockOrder(convert.All(rows, func(r row) string { return r.HandlersHash }))
	var lists []handlersRow
	if err := c.GORM(ctx, "worker.handlers").Where("hash IN ?", hashes).Find(&lists).Error; err != nil {
		return nil, err
	}
	known := make(map[string][]string, len(lists))
	for _, l := range lists {
		if l.Handlers != "" {
			known[l.Hash] = strings.Split(l.Handlers, "\n")
		}
	}
	for i := range out {
		out[i].Handlers = known[rows[i].HandlersHash]
	}
	return out, nil
}
