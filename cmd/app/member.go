package app

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// member makes this node a member of the cluster.
func (e *Engine) member(node entity.Node, lease *membership.Lease, view *membership.View,
	onBeat func(error),
) *membership.Member {
	d := membership.Deps{
		Registry: e.beats, Worker: e.Runner, Planner: e.Planner, View: view,
		Load: loadReporter{e.host, e.Clock}, Metrics: e.Metrics, Lease: lease,
		Clock: e.machine, Logger: e.logger, OnChange: e.dispatch.Wake, OnBeat: onBeat, OnLost: e.end,
	}
	e.cluster.join(e, &d, node)
	return membership.New(d, node, e.timing())
}

// end ends the process; only the first reason counts.
func (e *Engine) end(why error) {
	select {
	case e.lost <- why:
	default:
	}
}

// timing returns the periods of this node's beats and lease.
func (e *Engine) timing() liveness.Timing {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return liveness.Timing{Beat: ms(e.cfg.Engine.BeatMs), Lease: ms(e.cfg.Engine.LeaseMs)}
}

// timeSource returns the store where it has its own clock. SQLite uses the clock of
// the machine.
func (e *Engine) timeSource() repository.TimeSource {
	if e.cfg.Store.Driver == config.DriverMySQL {
		return e.Store
	}
	return nil
}

// loadReporter measures what the registry shows of the process.
type loadReporter struct {
	load  *hostmetrics.Host
	clock *storeclock.Clock
}

// Load implements membership.LoadReporter.
func (g loadReporter) Load() (cpu float64, memory int64) { return g.load.Load() }

// Offset implements membership.LoadReporter.
func (g loadReporter) Offset() time.Duration { return g.clock.Offset() }

// acquireNodeID ensures that no other process works under this node's id (engine rule
// 26). A connected process holds a lock in the store and is seen at once. The lock
// ends with its connection, so in a cluster the beats decide. An id that beats is
// taken. This process takes over an id that does not beat, even if the other process
// is still connected: it finds a newer epoch when it continues.
func (e *Engine) acquireNodeID(ctx context.Context, id string) error {
	held := e.beats.Hold(ctx)
	conflict := apperror.Is(held, apperror.KindConflict)
	if e.cfg.Profile != config.ProfileCluster || held != nil && !conflict {
		return held
	}
	before, err := e.lastBeat(ctx, id)
	if err != nil {
		return err
	}
	// An old beat alone proves nothing: while the store was away no node could beat.
	if before.Status == entity.NodeDown || before.ID == "" {
		return nil
	}
	if err := clock.Sleep(ctx, e.machine, before.SuspectAfter()); err != nil {
		return err
	}
	after, err := e.lastBeat(ctx, id)
	if err != nil {
		return err
	}
	if !after.LastHeartbeat.Equal(before.LastHeartbeat) {
		return apperror.Conflict("node_id_taken",
			"another process works as node %q on this store; stop it, or give this one another node.id (PS_NODE_ID)", id)
	}
	if conflict {
		e.logger.Warn("another process is connected under this node's id but does not beat; this process takes over",
			"node", id, "lastBeat", after.LastHeartbeat)
	}
	return nil
}

// lastBeat returns the row of a node, or an empty node without an id.
func (e *Engine) lastBeat(ctx context.Context, id string) (entity.Node, error) {
	nodes, err := e.Store.All(ctx)
	if err != nil {
		return entity.Node{}, fmt.Errorf("look for the node %s in the registry: %w", id, err)
	}
	for _, n := range nodes {
		if n.ID == id {
			return n, nil
		}
	}
	return entity.Node{}, nil
}
