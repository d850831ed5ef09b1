package upkeep

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Load tells how busy the node is.
type Load interface {
	Running() (running, total int)
}

// Heartbeat keeps the node's registry row fresh: the beat is the lease (engine
// rule 25).
type Heartbeat struct {
	nodes  repository.Nodes
	clock  StoreClock
	load   Load
	node   entity.Node
	fenced atomic.Bool
	logger *slog.Logger
	onLost func()
}

// NewHeartbeat wires the parts. onLost is called once when somebody else took
// the node's id over: this process must stop its work.
func NewHeartbeat(nodes repository.Nodes, clock StoreClock, load Load, node entity.Node, l *slog.Logger, onLost func()) *Heartbeat {
	return &Heartbeat{nodes: nodes, clock: clock, load: load, node: node, logger: l, onLost: onLost}
}

// RunOnce beats.
func (h *Heartbeat) RunOnce(ctx context.Context) error {
	n := h.node
	n.Running, n.Slots = h.load.Running()
	n.LastHeartbeat = h.clock.Now()
	ok, err := h.nodes.Heartbeat(ctx, n)
	if err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if !ok && h.fenced.CompareAndSwap(false, true) {
		h.logger.Error("another process took this node's id over; this one stops", "node", n.ID, "epoch", n.Epoch)
		h.onLost()
	}
	return nil
}

// Leave marks the node as gone, at a graceful stop.
func (h *Heartbeat) Leave(ctx context.Context) error {
	return h.nodes.Leave(ctx, h.node.ID, h.node.Epoch)
}
