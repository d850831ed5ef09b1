package rig

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// errNoCluster is a bench of several nodes on what nodes cannot share.
var errNoCluster = errors.New("several nodes share a MySQL or MariaDB store and Redis: set the profile cluster, " +
	"store.dsn (PS_STORE_DSN) and redis.addrs (PS_REDIS_ADDRS, --redis)")

// Cluster is nodes on one scratch database; each is a process of this binary.
type Cluster struct {
	// store takes the load; it is closed before the nodes start.
	store   *persistence.Store
	b       *Bench
	info    sqldb.Info
	cfg     config.Config
	Members []*Member
}

// NewCluster makes the nodes of a bench on a fresh scratch store; none of them runs yet.
func NewCluster(ctx context.Context, b *Bench, l *measure.Ledger, s Shape) (*Cluster, error) {
	next := b.Scratch.NextShared
	if b.Alone {
		next = b.Scratch.Next
	}
	cfg, err := next(ctx)
	if err != nil {
		return nil, err
	}
	store, err := b.OpenStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &Cluster{store: store, b: b, info: store.Info(), cfg: cfg}
	for i := range b.Nodes {
		own := cfg
		own.Node.ID = "bench-" + strconv.Itoa(i+1)
		if !b.Alone { // whose folder may hold the store
			own.DataDir = cfg.DataDir + "/" + own.Node.ID
		}
		own.Server.Addr, own.Node.IP = FreePort, "127.0.0.1"
		own.Auth.InitialAdminPassword = Password
		c.Members = append(c.Members, &Member{Number: uint8(i + 1), cfg: own, shape: s, ledger: l, log: own.DataDir + ".log"})
	}
	return c, nil
}

// Write implements Writer, until the nodes start.
func (c *Cluster) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return c.store.Write(ctx, lane, name, fn)
}

// Store takes what the API does not, until the nodes start.
func (c *Cluster) Store() *persistence.Store { return c.store }

// URLs are the addresses of the nodes, once they serve.
func (c *Cluster) URLs() []string {
	var out []string
	for _, m := range c.Members {
		m.mu.Lock()
		out = append(out, "http://127.0.0.1:"+strconv.Itoa(m.port))
		m.mu.Unlock()
	}
	return out
}

// Now implements System.
func (c *Cluster) Now() time.Time { return c.b.Clock.Now() }

// Describe implements System.
func (c *Cluster) Describe(jobs int) report.Result {
	r := c.b.NewResult(c.info, c.cfg, jobs)
	r.Nodes = len(c.Members)
	return r
}

// joinBound is how long nodes may take to share the partitions, beyond three
// leases.
const joinBound = 30 * time.Second

// Start starts every node, and waits until they share the partitions.
func (c *Cluster) Start(ctx context.Context) error {
	err := c.store.Close()
	c.store = nil
	if err != nil {
		return err
	}
	for _, m := range c.Members {
		if err := m.Start(); err != nil {
			return err
		}
	}
	return c.AwaitShared(ctx)
}

// AwaitShared waits until each partition is one node's, and each node has some.
func (c *Cluster) AwaitShared(ctx context.Context) error {
	return c.Await(ctx, joinBound+3*c.Lease(), "the nodes did not share the partitions", func() (bool, error) {
		var all measure.PartitionSet
		total := 0
		for _, m := range c.Members {
			if err := m.Exited(); err != nil {
				return false, err
			}
			p, ready := m.State()
			n := p.Count()
			if !ready || n == 0 {
				return false, nil
			}
			total += n
			all.AddAll(p)
		}
		return total == entity.Partitions && all.Count() == total, nil
	})
}

// Lease is that of the nodes.
func (c *Cluster) Lease() time.Duration {
	return time.Duration(c.cfg.Engine.LeaseMs) * time.Millisecond
}

// ErrTooLong is a wait that came to its bound.
var ErrTooLong = errors.New("took too long")

// Await looks until something is so, within a bound.
func (c *Cluster) Await(ctx context.Context, bound time.Duration, complaint string, so func() (bool, error)) error {
	for until := c.b.Clock.Monotonic() + bound; c.b.Clock.Monotonic() < until; {
		if ok, err := so(); ok || err != nil {
			return err
		}
		if err := c.b.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s within %s", ErrTooLong, complaint, bound)
}

// Ended implements System.
func (c *Cluster) Ended() int64 {
	var n int64
	for _, m := range c.Members {
		m.mu.Lock()
		n += m.endsBefore + m.endsNow
		m.mu.Unlock()
	}
	return n
}

// Clients implements System.
func (c *Cluster) Clients(ctx context.Context) ([]*client.Client, error) {
	var out []*client.Client
	for _, url := range c.URLs() {
		one, err := SignIn(ctx, url, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// Processes implements System.
func (c *Cluster) Processes() []Process {
	var out []Process
	for _, m := range c.Members {
		m.mu.Lock()
		out = append(out, Process{m.ID(), m.pid})
		m.mu.Unlock()
	}
	return out
}

// Stop ends every node in order, all at once.
func (c *Cluster) Stop(ctx context.Context) error {
	for _, m := range c.Members {
		m.Signal(syscall.SIGTERM)
	}
	for _, m := range c.Members {
		if err := c.AwaitStopped(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// AwaitStopped waits for a node that was asked to stop; it must end well.
func (c *Cluster) AwaitStopped(ctx context.Context, m *Member) error {
	bound := time.Duration(c.cfg.Server.ShutdownGraceSec)*time.Second + 2*node.StopBound
	err := c.Await(ctx, bound, "it did not stop", func() (bool, error) {
		select {
		case <-m.gone:
			return true, nil
		default:
			return false, nil
		}
	})
	if err != nil {
		return m.WithLog(err)
	}
	_ = m.alive.Close()
	if code := m.command.ProcessState.ExitCode(); code != 0 {
		return m.WithLog(fmt.Errorf("it stopped with exit code %d", code))
	}
	return nil
}

// Close implements System.
func (c *Cluster) Close(context.Context) {
	if c.store != nil {
		_ = c.store.Close()
	}
	for _, m := range c.Members {
		m.Kill()
	}
}
