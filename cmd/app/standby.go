package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/standby"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
)

// modeInterval is how often a node looks whether the store stands by.
const modeInterval = 2 * time.Second

// standing is what decides whether this node works, or stands by (docs/copies.md).
type standing struct {
	gate *standby.Gate
	mode *standby.Mode
	// check is nil where no other nodes can be asked.
	check *standby.Check
}

// openStanding makes the gate, closed where this node is known to stand by, or does not know yet. It comes before the
// registration, while the registry names only other nodes.
func openStanding(ctx context.Context, b base, s storage, c *cluster, node entity.Node) (t standing, err error) {
	t.gate = standby.NewGate(b.machine)
	if b.cfg.Server.Standby {
		t.gate.Set(standby.Asked, "this node was started with --standby (server.standby)")
	}
	var activated func()
	if c != nil && c.key != nil {
		named, err := s.Store.All(ctx)
		if err != nil {
			return t, fmt.Errorf("look which nodes the registry names: %w", err)
		}
		t.check = standby.NewCheck(standby.CheckDeps{
			Gate: t.gate, Peers: c.asks, Self: node, Named: named, Timing: b.timing(),
			Elapsed: boottime.Of(b.machine), Clock: b.machine, Logger: b.logger,
		})
		activated = t.check.Stop
	}
	t.mode = standby.NewMode(s.Store, t.gate, activated, b.logger)
	return t, t.mode.RunOnce(ctx)
}

// standbyReason is for people who ask why nothing goes on.
func (s standing) standbyReason() (reason string, since time.Time) {
	state := s.gate.State()
	return state.Reason, state.Since
}

// row is how this node registers.
func (s standing) row(node entity.Node) entity.Node {
	if s.gate.Open() {
		return node
	}
	return membership.AsStandby(node)
}

// followMode is a task: it follows the mode of the store. While the gate is closed the
// notifier rests, which is watched like a task.
func (p *parts) followMode(ctx context.Context) error {
	if !p.gate.Open() {
		p.sending.notifier.Note(periodic.ErrIdle)
	}
	return p.mode.RunOnce(ctx)
}

// servesStandby are the tasks of a node that stands by: what API and console need.
var servesStandby = []string{"standby", "clock", "health", "calls", "secrets", "audit", "disk"}

// whileOpen keeps the tasks of a node back while it stands by.
func (s standing) whileOpen(tasks []task) []task {
	for i, t := range tasks {
		if !slices.Contains(servesStandby, t.name) {
			tasks[i].run = func(ctx context.Context) error {
				if !s.gate.Open() {
					return periodic.ErrIdle
				}
				return t.run(ctx)
			}
		}
	}
	return tasks
}

// guarded runs attempts while this node does not stand by: drafts, too, which need no lease.
type guarded struct {
	gate *standby.Gate
	next running.Executor
}

// Run implements running.Executor.
func (g guarded) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	if !g.gate.Open() {
		return entity.Failed(entity.ReasonShutdown, "this node stands by: it runs nothing")
	}
	return g.next.Run(ctx, run, rep)
}
