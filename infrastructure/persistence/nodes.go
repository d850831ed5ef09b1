package persistence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Nodes is the registry: repository.Nodes.
type Nodes struct{ s *core }

// nodeRow is a row of scheduler_node_registry.
type nodeRow struct {
	ID            string `gorm:"column:id;primaryKey"`
	NodeIP        string
	NodePort      int
	Status        string
	LastHeartbeat stamp
	CreateTime    stamp
	UpdateTime    stamp
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
}

// TableName implements GORM's Tabler.
func (nodeRow) TableName() string { return "scheduler_node_registry" }

func toNodeRow(n entity.Node) (nodeRow, error) {
	labels, err := jsonMap(n.Labels)
	if err != nil {
		return nodeRow{}, fmt.Errorf("write the labels of node %s: %w", n.ID, err)
	}
	return nodeRow{
		ID: n.ID, NodeIP: n.IP, NodePort: n.Port, Status: string(n.Status), LastHeartbeat: stamp(n.LastHeartbeat),
		CreateTime: stamp(n.CreateTime), UpdateTime: stamp(n.UpdateTime), Epoch: n.Epoch, Roles: strings.Join(n.Roles, ","),
		Labels: labels, Version: n.Version, Slots: n.Slots, Running: n.Running,
		Weight: max(n.Weight, 1), CPU: n.CPU, Memory: n.Memory, ClockOffset: n.ClockOffset.Milliseconds(),
	}, nil
}

func (r nodeRow) entity() (entity.Node, error) {
	n := entity.Node{
		ID: r.ID, IP: r.NodeIP, Port: r.NodePort, Status: entity.NodeStatus(r.Status), Epoch: r.Epoch, Version: r.Version,
		Slots: r.Slots, Running: r.Running, Weight: r.Weight, CPU: r.CPU, Memory: r.Memory,
		ClockOffset: time.Duration(r.ClockOffset) * time.Millisecond, LastHeartbeat: r.LastHeartbeat.time(), CreateTime: r.CreateTime.time(), UpdateTime: r.UpdateTime.time(),
	}
	if r.Roles != "" {
		n.Roles = strings.Split(r.Roles, ",")
	}
	if r.Labels != "" {
		if err := json.Unmarshal([]byte(r.Labels), &n.Labels); err != nil {
			return n, fmt.Errorf("read the labels of node %s: %w", r.ID, err)
		}
	}
	return n, nil
}

// Register implements repository.Nodes. A zero LastHeartbeat stands for the
// store's time, as do zero times of creation and update.
func (r *Nodes) Register(ctx context.Context, n entity.Node) (int64, error) {
	if err := r.stampTimes(ctx, &n); err != nil {
		return 0, err
	}
	row, err := toNodeRow(n)
	if err != nil {
		return 0, err
	}
	row.Status = string(entity.NodeUp)
	err = r.s.change(ctx, repository.LaneComplete, "node-register", func(ctx context.Context, c *conn) error {
		var former nodeRow
		err := c.gorm(ctx, "node.lock").Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", n.ID).Take(&former).Error
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			row.Epoch = 1
			return c.gorm(ctx, "node.insert").Create(&row).Error
		case err != nil:
			return err
		}
		row.Epoch = former.Epoch + 1
		return c.gorm(ctx, "node.register").Model(&nodeRow{}).Where("id = ?", n.ID).Select("*").Omit("id", "create_time").Updates(&row).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) { // somebody registered the id between look and write
		return r.Register(ctx, n)
	}
	return row.Epoch, err
}

// stampTimes fills in the store's time where none is given.
func (r *Nodes) stampTimes(ctx context.Context, n *entity.Node) error {
	if n.LastHeartbeat.IsZero() {
		now, err := r.s.StoreTime(ctx)
		if err != nil {
			return err
		}
		n.LastHeartbeat = now
	}
	if n.CreateTime.IsZero() {
		n.CreateTime = n.LastHeartbeat
	}
	if n.UpdateTime.IsZero() {
		n.UpdateTime = n.LastHeartbeat
	}
	return nil
}

// All implements repository.Nodes.
func (r *Nodes) All(ctx context.Context) ([]entity.Node, error) {
	return (&nodeReader{r.s.read}).All(ctx)
}

// nodeReader reads the registry inside or outside of a transaction:
// repository.NodeReader.
type nodeReader struct{ c *conn }

// All implements repository.NodeReader.
func (r *nodeReader) All(ctx context.Context) ([]entity.Node, error) {
	var rows []nodeRow
	if err := r.c.gorm(ctx, "node.all").Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]entity.Node, 0, len(rows))
	for _, row := range rows {
		n, err := row.entity()
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
