package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// errNoCluster is a bench of several nodes on what nodes cannot share.
var errNoCluster = errors.New("several nodes share a MySQL or MariaDB store and Redis: set the profile cluster, store.dsn (PS_STORE_DSN) and redis.addrs (PS_REDIS_ADDRS, --redis)")

// Clustered reports whether a bench runs nodes as processes of their own, for
// which the configuration must be of the cluster profile.
func Clustered(name string, nodes int) bool {
	return nodes > 1 || slices.Contains([]string{"failover", "rolling", "restart-store"}, name)
}

// cluster is nodes on one scratch database; each is a process of this binary.
type cluster struct {
	*persistence.Store
	b       *bench
	info    sqldb.Info
	cfg     config.Config
	members []*member
}

func (b *bench) newCluster(ctx context.Context, l *ledger, s shape) (*cluster, error) {
	cfg, err := b.scratch.nextShared(ctx)
	if err != nil {
		return nil, err
	}
	store, err := b.openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &cluster{Store: store, b: b, info: store.Info(), cfg: cfg}
	for i := range b.Nodes {
		own := cfg
		own.Node.ID = "bench-" + strconv.Itoa(i+1)
		own.DataDir = cfg.DataDir + "/" + own.Node.ID
		own.Server.Addr, own.Node.IP = freePort, "127.0.0.1"
		own.Auth.InitialAdminPassword = benchPassword
		c.members = append(c.members, &member{number: uint8(i + 1), cfg: own, shape: s, ledger: l, log: own.DataDir + ".log"})
	}
	return c, nil
}

func (c *cluster) now() time.Time { return c.b.clock.Now() }

func (c *cluster) describe(jobs int) Result {
	r := c.b.result(c.info, c.cfg, jobs)
	r.Nodes = len(c.members)
	return r
}

// joinBound is how long nodes may take to share the partitions, beyond three
// leases.
const joinBound = 30 * time.Second

// start starts every node, and waits until they share the partitions.
func (c *cluster) start(ctx context.Context) error {
	if err := c.Close(); err != nil {
		return err
	}
	c.Store = nil
	for _, m := range c.members {
		if err := m.start(); err != nil {
			return err
		}
	}
	return c.join(ctx)
}

// join waits until each partition is one node's, and each node has some.
func (c *cluster) join(ctx context.Context) error {
	return c.await(ctx, joinBound+3*c.lease(), "the nodes did not share the partitions", func() (bool, error) {
		var all place
		total := 0
		for _, m := range c.members {
			if err := m.fell(); err != nil {
				return false, err
			}
			p, ready := m.at()
			n := p.count()
			if !ready || n == 0 {
				return false, nil
			}
			total += n
			all.join(p)
		}
		return total == entity.Partitions && all.count() == total, nil
	})
}

func (c *cluster) lease() time.Duration {
	return time.Duration(c.cfg.Engine.LeaseMs) * time.Millisecond
}

// errTooLong is a wait that came to its bound.
var errTooLong = errors.New("took too long")

// await looks until something is so, within a bound.
func (c *cluster) await(ctx context.Context, bound time.Duration, complaint string, so func() (bool, error)) error {
	for until := c.b.clock.Monotonic() + bound; c.b.clock.Monotonic() < until; {
		if ok, err := so(); ok || err != nil {
			return err
		}
		if err := c.b.sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s within %s", errTooLong, complaint, bound)
}

func (c *cluster) ended() int64 {
	var n int64
	for _, m := range c.members {
		m.mu.Lock()
		n += m.ends + m.now
		m.mu.Unlock()
	}
	return n
}

func (c *cluster) clients(ctx context.Context) ([]*client.Client, error) {
	var out []*client.Client
	for _, m := range c.members {
		m.mu.Lock()
		url := "http://127.0.0.1:" + strconv.Itoa(m.port)
		m.mu.Unlock()
		one, err := signIn(ctx, url, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (c *cluster) processes() []process {
	var out []process
	for _, m := range c.members {
		m.mu.Lock()
		out = append(out, process{m.cfg.Node.ID, m.pid})
		m.mu.Unlock()
	}
	return out
}

// stop ends every node in order, all at once.
func (c *cluster) stop(ctx context.Context) error {
	for _, m := range c.members {
		m.signal(syscall.SIGTERM)
	}
	for _, m := range c.members {
		if err := c.stopped(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// stopped waits for a node that was asked to stop; it must end well.
func (c *cluster) stopped(ctx context.Context, m *member) error {
	bound := time.Duration(c.cfg.Server.ShutdownGraceSec)*time.Second + 2*stopBound
	err := c.await(ctx, bound, "it did not stop", func() (bool, error) {
		select {
		case <-m.gone:
			return true, nil
		default:
			return false, nil
		}
	})
	if err != nil {
		return m.complaint(err)
	}
	_ = m.alive.Close()
	if code := m.command.ProcessState.ExitCode(); code != 0 {
		return m.complaint(fmt.Errorf("it stopped with exit code %d", code))
	}
	return nil
}

func (c *cluster) close(context.Context) {
	if c.Store != nil {
		_ = c.Close()
	}
	for _, m := range c.members {
		m.end()
	}
}
