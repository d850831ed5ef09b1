// Package registry keeps what the cluster agrees on: the nodes and their beats, the
// locks, and the key of the calls between nodes.
package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Nodes is the registry: repository.Nodes.
type Nodes struct {
	s *sqldb.Core
	// handlers are the lists of handlers that looks have seen.
	handlers handlerLists
}

// NewNodes gives the repository over the connections of s.
func NewNodes(s *sqldb.Core) *Nodes { return &Nodes{s: s} }

// nodeRow is a row of scheduler_node_registry.
type nodeRow struct {
	ID            string `gorm:"column:id;primaryKey"`
	NodeIP        string
	NodePort      int
	Status        string
	LastHeartbeat sqlvalue.DBTime
	CreateTime    sqlvalue.DBTime
	UpdateTime    sqlvalue.DBTime
	Epoch         int64
	Roles         string
	Labels        string
	Version       string
	Slots         int
	Running       int
	Weight        int
	CPU           float64 `gorm:"column:cpu"`
	Memory        int64
	// ClockOffset is in milliseconds.
	ClockOffset int64
	// The columns below are NULL in rows of older programs, and hold for LifeEpoch alone.
	LifeEpoch   *int64
	LeaseMs     *int64
	BootID      *string
	StoreServer *string
	LockSession *int64
	Sessions    *string
	DownCause   *string
	// Drained tells of a row that is DOWN whether it was DRAINING before.
	Drained bool
	// StoreDatabase is NULL in rows of the former release, too. It holds for LifeEpoch
	// alone.
	StoreDatabase *string
	// The abilities of a node hold for the life that has published them: a former
	// release that takes the id over leaves these columns as they are.
	CommandSlots   int
	CommandRunning int
	Handlers       sql.NullString
	HandlersHash   string
	PublishedEpoch int64
}

// TableName implements GORM's Tabler.
func (nodeRow) TableName() string { return "scheduler_node_registry" }

func toNodeRow(n entity.Node) (nodeRow, error) {
	labels, err := sqlvalue.MapJSON(n.Labels)
	if err != nil {
		return nodeRow{}, fmt.Errorf("write the labels of node %s: %w", n.ID, err)
	}
	row := nodeRow{
		ID: n.ID, NodeIP: n.IP, NodePort: n.Port, Status: string(n.Status), LastHeartbeat: sqlvalue.DBTime(n.LastHeartbeat),
		CreateTime: sqlvalue.DBTime(n.CreateTime), UpdateTime: sqlvalue.DBTime(n.UpdateTime), Epoch: n.Epoch,
		Roles:  strings.Join(n.Roles, ","),
		Labels: labels, Version: n.Version, Slots: n.Slots, Running: n.Running,
		Weight: max(n.Weight, 1), CPU: n.CPU, Memory: n.Memory, ClockOffset: n.ClockOffset.Milliseconds(),
	}
	row.publish(n.Life)
	if n.Publishes() {
		row.CommandSlots, row.CommandRunning, row.HandlersHash = n.CommandSlots, n.CommandRunning, n.HandlersHash
		row.Handlers = sql.NullString{String: strings.Join(n.Handlers, "\n"), Valid: true}
	}
	return row, nil
}

// publish fills in what this life says of itself; for the epoch see Register.
func (r *nodeRow) publish(l entity.NodeLife) {
	if l.Lease <= 0 {
		return
	}
	lease, sessions := l.Lease.Milliseconds(), sessionsText(l.Sessions)
	r.LeaseMs, r.BootID, r.StoreServer, r.LockSession, r.Sessions = &lease, &l.Boot, &l.Server, &l.LockSession, &sessions
	r.StoreDatabase = &l.Database
}

// life is what the row publishes; nothing where an older program wrote it last.
func (r nodeRow) life() entity.NodeLife {
	if r.LifeEpoch == nil || *r.LifeEpoch != r.Epoch || r.LeaseMs == nil {
		return entity.NodeLife{}
	}
	return entity.NodeLife{
		Lease: time.Duration(*r.LeaseMs) * time.Millisecond, Boot: deref(r.BootID), Server: deref(r.StoreServer),
		Database: deref(r.StoreDatabase), LockSession: deref(r.LockSession), Sessions: parseSessions(deref(r.Sessions)),
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// sessionsText and parseSessions write and read ids of sessions.
func sessionsText(ids []int64) string {
	texts := convert.All(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
	return strings.Join(texts, ",")
}

func parseSessions(text string) (ids []int64) {
	for one := range strings.SplitSeq(text, ",") {
		if id, err := strconv.ParseInt(one, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r nodeRow) entity() entity.Node {
	n := entity.Node{
		ID: r.ID, IP: r.NodeIP, Port: r.NodePort, Status: entity.NodeStatus(r.Status), Epoch: r.Epoch, Version: r.Version,
		Slots: r.Slots, Running: r.Running, Weight: r.Weight, CPU: r.CPU, Memory: r.Memory,
		ClockOffset: time.Duration(r.ClockOffset) * time.Millisecond, LastHeartbeat: r.LastHeartbeat.Time(),
		CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
		Life: r.life(), DownCause: deref(r.DownCause),
	}
	if r.Roles != "" {
		n.Roles = strings.Split(r.Roles, ",")
	}
	if r.HandlersHash != "" && r.PublishedEpoch == r.Epoch {
		n.CommandSlots, n.CommandRunning, n.HandlersHash = r.CommandSlots, r.CommandRunning, r.HandlersHash
		if r.Handlers.String != "" {
			n.Handlers = strings.Split(r.Handlers.String, "\n")
		}
	}
	var unread []entity.Unread
	n.Labels = sqlvalue.ReadJSON[map[string]string]("labels", r.Labels, &unread)
	n.Unreadable = entity.Describe(unread)
	return n
}

// Register implements repository.Nodes. The beat, and the times of creation and
// update, are the store's, whatever the node says.
func (r *Nodes) Register(ctx context.Context, n entity.Node) (int64, error) {
	row, err := toNodeRow(n)
	if err != nil {
		return 0, err
	}
	row.Status, row.DownCause = string(entity.NodeUp), nil
	err = r.s.Change(ctx, repository.LaneComplete, "node-register", func(ctx context.Context, c *sqldb.Conn) error {
		now, err := c.StoreTime(ctx)
		if err != nil {
			return err
		}
		row.LastHeartbeat, row.CreateTime, row.UpdateTime = sqlvalue.DBTime(now), sqlvalue.DBTime(now), sqlvalue.DBTime(now)
		var former nodeRow
		err = c.GORM(ctx, "node.lock").Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", n.ID).Take(&former).Error
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			row.Epoch, row.LifeEpoch, row.PublishedEpoch = 1, ofLife(row, 1), 1
			return c.GORM(ctx, "node.insert").Create(&row).Error
		case err != nil:
			return err
		}
		if former.Drained && former.Epoch == n.Epoch {
			row.Status = string(entity.NodeDraining)
		}
		row.Epoch = former.Epoch + 1
		row.LifeEpoch = ofLife(row, row.Epoch)
		row.PublishedEpoch = row.Epoch
		return c.GORM(ctx, "node.register").Model(&nodeRow{}).Where("id = ?", n.ID).Select("*").Omit("id", "create_time").
			Updates(&row).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) { // somebody registered the id between look and write
		return r.Register(ctx, n)
	}
	return row.Epoch, err
}

// ofLife is the epoch for which a row publishes; nil where it does not.
func ofLife(row nodeRow, epoch int64) *int64 {
	if row.LeaseMs == nil {
		return nil
	}
	return &epoch
}

// All implements repository.Nodes.
func (r *Nodes) All(ctx context.Context) ([]entity.Node, error) {
	return (&nodeReader{r.s.Pool}).All(ctx)
}

// nodeReader reads the registry inside or outside of a transaction:
// repository.NodeReader.
type nodeReader struct{ c *sqldb.Conn }

// NewNodeReader gives the repository inside of the transaction of c.
func NewNodeReader(c *sqldb.Conn) repository.NodeReader { return &nodeReader{c} }

// All implements repository.NodeReader.
func (r *nodeReader) All(ctx context.Context) ([]entity.Node, error) {
	var rows []nodeRow
	if err := r.c.GORM(ctx, "node.all").Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	return nodesOf(r.c, rows), nil
}

func nodesOf(c *sqldb.Conn, rows []nodeRow) []entity.Node {
	out := convert.All(rows, func(row nodeRow) entity.Node { return row.entity() })
	return sqldb.NoteUnread(c, out)
}
