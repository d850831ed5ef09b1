package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// self is this node, once the registry has it.
type self struct {
	Secrets *secret.SecretService

	node entity.Node
	standing
	// exposure is nil unless commands run as the server's own user.
	exposure *monitor.CommandExposure
	// unbounded: nothing bounds the processes of a command.
	unbounded bool
}

// register enters this node into the registry, after it has made sure that the id is its own.
func register(ctx context.Context, b base, s storage, c *cluster) (n self, err error) {
	if n.node, err = nodeOf(b, c); err != nil {
		return n, err
	}
	if err = acquireNodeID(ctx, b, s, n.node.ID); err != nil {
		return n, err
	}
	if p := b.options.Processes; p != nil {
		p.Prepare()
		n.unbounded = b.showIsolation()
		if p.Exposed() {
			n.exposure = monitor.NewCommandExposure(s.Store, b.logger)
		}
	}
	if n.standing, err = openStanding(ctx, b, s, c, n.node); err != nil {
		return n, err
	}
	if n.node.Epoch, err = s.Store.Register(ctx, n.row(n.node)); err != nil {
		return n, fmt.Errorf("enter the node %s into the registry: %w", n.node.ID, err)
	}
	n.Secrets, err = openSecrets(ctx, b, s)
	return n, err
}

// nodeOf is the registry row of this process.
func nodeOf(b base, c *cluster) (entity.Node, error) {
	cfg, x := b.cfg, b.options.Executor
	handlers := x.Handlers()
	if n := len(strings.Join(handlers, "\n")); n > entity.MaxHandlers {
		return entity.Node{}, fmt.Errorf("the names of the %d handlers have %d bytes in all; at most %d are allowed: use "+
			"shorter names, or divide the handlers among several programs", len(handlers), n, entity.MaxHandlers)
	}
	_, port, _ := net.SplitHostPort(cfg.Server.Addr) // checked by the configuration
	number, _ := strconv.Atoi(port)
	if c != nil {
		number = c.port
	}
	if cfg.Node.Port != 0 {
		number = cfg.Node.Port
	}
	return entity.Node{
		ID: cfg.Node.ID, IP: cfg.Node.IP, Port: number, Status: entity.NodeUp, Roles: cfg.Server.Roles,
		Labels: cfg.Node.Labels, Version: Version(), Slots: cfg.Executor.Slots, Weight: cfg.Node.Weight,
		Life:         entity.NodeLife{Lease: b.timing().Lease, Boot: rand.Text()},
		CommandSlots: x.CommandSlots(), Handlers: handlers, HandlersHash: entity.HandlersHash(handlers),
	}, nil
}

// openSecrets makes the service of secrets, and puts what former keys sealed
// under the current one.
func openSecrets(ctx context.Context, b base, s storage) (*secret.SecretService, error) {
	secrets := secret.NewSecretService(s.Store, s.Store, s.keys, b.machine)
	moved, err := secrets.Reseal(ctx)
	if err != nil {
		// Runs that need these fail by themselves, and say why.
		b.logger.Error("some secrets could not be put under the current key", "error", err)
	}
	count, err := secrets.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	if count.Secrets > 0 && count.Bound == 0 {
		b.logger.Info("all secrets are for the jobs of every group; bind one to groups with PUT /api/v1/secrets/NAME "+
			"{groups, version}", "secrets", count.Secrets)
	}
	if moved > 0 {
		b.logger.Info("secrets were put under the current key", "count", moved, "key", s.keys.Current())
	}
	return secrets, nil
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
func acquireNodeID(ctx context.Context, b base, s storage, id string) error {
	held := s.beats.Hold(ctx)
	conflict := apperror.Is(held, apperror.KindConflict)
	if b.cfg.Profile != config.ProfileCluster || held != nil && !conflict {
		return held
	}
	before, err := lastBeat(ctx, s, id)
	if err != nil {
		return err
	}
	// An old beat alone proves nothing: while the store was away no node could beat.
	if before.Status == entity.NodeDown || before.ID == "" {
		return nil
	}
	if err := clock.Sleep(ctx, b.machine, before.SuspectAfter()); err != nil {
		return err
	}
	after, err := lastBeat(ctx, s, id)
	if err != nil {
		return err
	}
	if !after.LastHeartbeat.Equal(before.LastHeartbeat) {
		return apperror.Conflict("node_id_taken",
			"another process works as node %q on this store; stop it, or give this one another node.id (PS_NODE_ID)", id)
	}
	if conflict {
		b.logger.Warn("another process is connected under this node's id but does not beat; this process takes over",
			"node", id, "lastBeat", after.LastHeartbeat)
	}
	return nil
}

// lastBeat returns the row of a node, or an empty node without an id.
func lastBeat(ctx context.Context, s storage, id string) (entity.Node, error) {
	nodes, err := s.Store.All(ctx)
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
