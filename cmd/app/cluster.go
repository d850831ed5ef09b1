package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/notify"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/redislock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redispubsub"
)

// cluster holds what a node of a cluster needs besides the store: the Redis client, pub/sub,
// locks, and the calls between nodes. Each part may be unreachable. It is nil where a node is
// alone.
type cluster struct {
	client   redis.UniversalClient
	guard    *redisconn.Guard
	redis    *redispubsub.Redis
	locks    repository.Locker
	notifier *notify.Notifier
	// listener is where other nodes call this one where no Server listens; port is the
	// port that the registry names.
	listener net.Listener
	port     int
	// key signs calls between nodes; nil where this node cannot open it.
	key  []byte
	asks *peering.Client
}

// pingTimeout bounds each ping of Redis at a start.
const pingTimeout = 3 * time.Second

// openCluster connects to Redis and opens the calls between nodes, where the profile has them.
func openCluster(ctx context.Context, b base, s storage) (*cluster, error) {
	if b.cfg.Profile != config.ProfileCluster {
		return nil, nil
	}
	client, err := redisconn.Open(b.cfg.Redis)
	if err != nil {
		return nil, err
	}
	b.opened.add(client.Close)
	client.AddHook(redisCalls{b.machine, b.Metrics.RedisCall})
	space := keySpace(b.cfg)
	c := &cluster{
		client: client, guard: redisconn.Watch(client, b.cfg.Redis, b.machine, b.logger),
		redis: redispubsub.New(client, space),
		locks: lock.Count(redislock.New(client, space), b.Metrics.LockCall("redis")),
	}
	c.notifier = notify.New(b.cfg.Node.ID, c.redis, b.machine, b.logger)
	if err := c.ping(ctx, b); err != nil {
		return nil, err
	}
	return c, c.openPeers(ctx, b, s)
}

// ping has the log name a Redis that does not serve. The start waits for it only if
// redis.required is set: the cluster is correct without Redis.
func (c *cluster) ping(ctx context.Context, b base) error {
	ping := func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		err := redisconn.Ping(bounded, c.client, b.cfg.Redis)
		c.guard.Note(err)
		return err
	}
	if !b.cfg.Redis.Required {
		_ = ping(ctx) // the guard logs it
		return nil
	}
	return b.retryUntilReady(ctx, "Redis", ping, func(err error) bool { return !redisconn.Mistaken(err) })
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
func (c *cluster) join(b base, d *membership.Deps, node entity.Node) {
	d.Peers, d.Liveness, d.Announce = c.asks, c.redis, c.notifier.MembersChanged
	d.PartitionLeases = &partitionLeases{locks: c.locks, holder: holderOf(node), lasts: b.timing().Lease}
}

// holderMark separates node id and epoch in the name of a lock's holder. A node id
// never holds it.
const holderMark = "#"

// holderOf returns the name under which one epoch of a node holds locks.
func holderOf(node entity.Node) string {
	return node.ID + holderMark + strconv.FormatInt(node.Epoch, 10)
}

// listener acts on the notifications of other nodes.
type listener struct{ *parts }

// JobsChanged implements notify.Listener.
func (l listener) JobsChanged(ctx context.Context, ids []string) error {
	return l.Planner.Refresh(ctx, ids)
}

// RunsReady implements notify.Listener.
func (l listener) RunsReady(kind entity.SlotKind) { l.Runner.RunsReady(kind) }

// WorkersWanted implements notify.Listener.
func (l listener) WorkersWanted(groups []string) { l.Gateway.Wanted(groups) }

// StopAsked implements notify.Listener.
func (l listener) StopAsked(ctx context.Context, ids []string) error {
	l.Gateway.StopAsked(ids)
	return l.Runner.StopAsked(ctx, ids)
}

// MembersChanged implements notify.Listener.
func (l listener) MembersChanged(context.Context) error {
	l.Member.Wake()
	return nil
}

// EventsAdded implements notify.Listener.
func (l listener) EventsAdded() { l.events.wake() }

// MessagesPlanned implements notify.Listener.
func (l listener) MessagesPlanned() { l.sending.notifier.Wake() }

// NotificationsMissed implements notify.Listener. The reconciliation finds requests to stop.
func (l listener) NotificationsMissed(ctx context.Context) error {
	l.Member.Wake()
	l.Gateway.Wake()
	for _, kind := range entity.SlotKinds() {
		l.Runner.RunsReady(kind)
	}
	if err := l.scan(ctx); !errors.Is(err, periodic.ErrIdle) {
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
	return convert.All(partitions, lockName)
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
