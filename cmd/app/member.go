package app

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/storeclock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// member is this node's place among the others; the planner is given to it
// when there is one.
func (e *Engine) member(node entity.Node) *membership.Member {
	d := membership.Deps{
		Registry: e.Store, Worker: e.Runner, Gauge: gauge{metrics.NewLoad(e.machine), e.Clock}, Clock: e.machine, Logger: e.logger,
		OnChange: e.dispatch.Wake, OnLost: func() { close(e.lost) },
	}
	e.cluster.join(e, &d, node)
	return membership.New(d, node, liveness.Terms{Beat: e.beat(), Lease: time.Duration(e.cfg.Engine.LeaseMs) * time.Millisecond})
}

func (e *Engine) beat() time.Duration { return time.Duration(e.cfg.Engine.BeatMs) * time.Millisecond }

// gauge is what the registry shows of the process.
type gauge struct {
	load  *metrics.Load
	clock *storeclock.Clock
}

// Load implements membership.Gauge.
func (g gauge) Load() (cpu float64, memory int64) { return g.load.Load() }

// Offset implements membership.Gauge.
func (g gauge) Offset() time.Duration { return g.clock.Offset() }

// takeID makes sure that no other process works under this node's id (engine
// rule 26). One that is connected to the store is seen at once; one that still
// holds its connection but does not beat any more is frozen, or lost, and its
// id is taken over: it will find a newer epoch when it wakes.
func (e *Engine) takeID(ctx context.Context, id string) error {
	before, err := e.lastBeat(ctx, id)
	if err != nil {
		return err
	}
	began := e.machine.Monotonic()
	held := e.Store.HoldInstance(ctx, id)
	if held == nil || !fault.Is(held, fault.KindConflict) || e.cfg.Profile != config.ProfileCluster {
		return held
	}
	if err := e.sleep(ctx, began+2*e.beat()+e.beat()/2-e.machine.Monotonic()); err != nil {
		return err
	}
	after, err := e.lastBeat(ctx, id)
	if err != nil {
		return err
	}
	if !after.Equal(before) {
		return held
	}
	e.logger.Warn("another process is connected under this node's id but does not beat; this one takes over", "node", id, "lastBeat", after)
	return nil
}

func (e *Engine) lastBeat(ctx context.Context, id string) (time.Time, error) {
	nodes, err := e.Store.All(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for the node %s in the registry: %w", id, err)
	}
	for _, n := range nodes {
		if n.ID == id {
			return n.LastHeartbeat, nil
		}
	}
	return time.Time{}, nil
}

func (e *Engine) sleep(ctx context.Context, d time.Duration) error {
	t := e.machine.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
