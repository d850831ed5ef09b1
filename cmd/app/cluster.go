package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/notify"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/redislock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redispubsub"
)

// cluster holds the parts of a node that a cluster needs besides the store: the Redis
// client, pub/sub, locks, elector, and the calls between nodes. Each part may be
// unreachable.
type cluster struct {
	client   redis.UniversalClient
	guard    *redisconn.Guard
	redis    *redispubsub.Redis
	locks    repository.Locker
	notifier *notify.Notifier
	// elector decides whether this node leads. leaderlessSince is since when no node
	// leads, in monotonic ns; 0 while a node leads.
	elector         *lock.Elector
	leaderlessSince atomic.Int64
	// peerServer answers other nodes where no Server listens; port is the port that
	// the registry names.
	peerServer *peerServer
	port       int
	// key signs calls between nodes; nil where this node cannot open it.
	key   []byte
	asks  *peering.Client
	peers http.Handler
}

// pingTimeout bounds each ping of Redis at a start.
const pingTimeout = 3 * time.Second

// openCluster connects to Redis, where the profile has one. The log names a Redis that
// does not serve. The start waits for it only if redis.required is set: the cluster is
// correct without Redis.
func (e *Engine) openCluster(ctx context.Context, cfg config.Config) error {
	if cfg.Profile != config.ProfileCluster {
		return nil
	}
	client, err := redisconn.Open(cfg.Redis)
	if err != nil {
		return err
	}
	space := keySpace(cfg)
	e.cluster = &cluster{
		client: client, guard: redisconn.Watch(client, cfg.Redis, e.machine, e.logger),
		redis: redispubsub.New(client, space),
		locks: lock.Count(redislock.New(client, space), e.Metrics.LockCall("redis")),
	}
	client.AddHook(redisCalls{e.machine, e.Metrics.RedisCall})
	ping := func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		err := redisconn.Ping(bounded, client, cfg.Redis)
		e.cluster.guard.Note(err)
		return err
	}
	if !cfg.Redis.Required {
		_ = ping(ctx) // the guard logs it
		return nil
	}
	return e.retryUntilReady(ctx, "Redis", ping, func(err error) bool { return !redisconn.Mistaken(err) })
}

// keySpace separates installations that share a Redis: by redis.keyPrefix, or by the
// name of the database.
func keySpace(cfg config.Config) string {
	name := cfg.Redis.KeyPrefix
	if name == "" {
		name = "scheduler"
		if dsn, err := mysql.ParseDSN(cfg.Store.DSN); err == nil && dsn.DBName != "" {
			name = dsn.DBName
		}
	}
	return "ps:" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == ':' {
			return r
		}
		return '-'
	}, name)
}

// join adds the cluster's parts to the member; node is its row.
func (c *cluster) join(e *Engine, d *membership.Deps, node entity.Node) {
	if c == nil {
		return
	}
	d.Peers, d.Liveness = c.asks, c.redis
	d.PartitionLeases = &partitionLeases{locks: c.locks, holder: holderOf(node), lasts: e.timing().Lease}
	c.notifier = notify.New(node.ID, c.redis, listener{e}, e.machine, e.logger)
	e.Commits.OnCommit(c.notifier.AfterCommit)
	d.Announce = c.notifier.MembersChanged
}

// holderMark separates node id and epoch in the name of a lock's holder. A node id
// never holds it.
const holderMark = "#"

// holderOf returns the name under which one epoch of a node holds locks.
func holderOf(node entity.Node) string {
	return node.ID + holderMark + strconv.FormatInt(node.Epoch, 10)
}

// announceJob tells the other nodes that this one changed a job.
func (c *cluster) announceJob(job *entity.Job) {
	if c != nil {
		c.notifier.JobChanged(job.ID)
	}
}

func (c *cluster) close() error {
	if c == nil {
		return nil
	}
	if c.asks != nil {
		c.asks.Close()
	}
	return errors.Join(c.peerServer.close(), c.client.Close())
}

// listener acts on the hints of other nodes.
type listener struct{ e *Engine }

// JobsChanged implements notify.Listener.
func (l listener) JobsChanged(ctx context.Context, ids []string) error {
	return l.e.Planner.Refresh(ctx, ids)
}

// RunsReady implements notify.Listener.
func (l listener) RunsReady(kind entity.SlotKind) { l.e.Runner.RunsReady(kind) }

// StopAsked implements notify.Listener.
func (l listener) StopAsked(ctx context.Context, ids []string) error {
	return l.e.Runner.StopAsked(ctx, ids)
}

// MembersChanged implements notify.Listener.
func (l listener) MembersChanged(context.Context) error {
	l.e.Member.Wake()
	return nil
}

// EventsAdded implements notify.Listener.
func (l listener) EventsAdded() { l.e.events.wake() }

// MessagesPlanned implements notify.Listener.
func (l listener) MessagesPlanned() { l.e.notifying.notifier.Wake() }

// NotificationsMissed implements notify.Listener. The reconciliation finds requests to stop.
func (l listener) NotificationsMissed(ctx context.Context) error {
	l.e.Member.Wake()
	for _, kind := range entity.SlotKinds() {
		l.e.Runner.RunsReady(kind)
	}
	if err := l.e.scan(ctx); !errors.Is(err, periodic.ErrIdle) {
		return err
	}
	return nil
}

// partitionLeases claims each partition as a lock named after its number.
type partitionLeases struct {
	locks  repository.Locker
	holder string
	lasts  time.Duration
}

func lockName(partition int) string { return "partition-" + strconv.Itoa(partition) }

func lockNames(partitions []int) []string {
	names := make([]string, len(partitions))
	for i, p := range partitions {
		names[i] = lockName(p)
	}
	return names
}

// Claim implements partitions.Leases.
func (d *partitionLeases) Claim(ctx context.Context, partitions []int) ([]int, error) {
	granted, err := d.locks.ClaimMany(ctx, lockNames(partitions), d.holder, d.lasts)
	if err != nil {
		return nil, fmt.Errorf("claim partitions: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(partitions), func(p int) bool {
		return !slices.Contains(granted, lockName(p))
	}), nil
}

// Release implements partitions.Leases.
func (d *partitionLeases) Release(ctx context.Context, partitions []int) error {
	return d.locks.ReleaseMany(ctx, lockNames(partitions), d.holder)
}
