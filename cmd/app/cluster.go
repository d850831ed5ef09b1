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

// cluster is what a node has besides the store to get along with others; all
// of it may be away.
type cluster struct {
	client redis.UniversalClient
	guard  *redisconn.Guard
	redis  *redispubsub.Redis
	locks  repository.Locker
	hub    *notify.Hub
	// elector says whether this node does the duties of the cluster; unled is since
	// when nobody does, in monotonic ns, 0 while somebody does.
	elector *lock.Elector
	unled   atomic.Int64
	// door is where other nodes ask this one, where no Server listens; port is where
	// they are told to.
	door *door
	port int
	// key signs what nodes say to each other; nil where it cannot be opened.
	key   []byte
	asks  *peering.Client
	peers http.Handler
}

// pingTimeout bounds the first look for Redis.
const pingTimeout = 3 * time.Second

// openCluster connects to Redis, where the profile has one. One that does not
// serve is told, and not waited for unless the settings say so: the cluster is
// right without it.
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
		redis: redispubsub.New(client, space), locks: redislock.New(client, space),
	}
	ping := func(ctx context.Context) error {
		bounded, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		err := redisconn.Ping(bounded, client, cfg.Redis)
		e.cluster.guard.Note(err)
		return err
	}
	if !cfg.Redis.Required {
		_ = ping(ctx) // the guard tells
		return nil
	}
	return e.patiently(ctx, "Redis", ping, func(err error) bool { return !redisconn.Mistaken(err) })
}

// keySpace tells installations apart that share a Redis: by the setting, or by
// the name of the database.
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

// join makes the member a part of the cluster; node is its row.
func (c *cluster) join(e *Engine, d *membership.Deps, node entity.Node) {
	if c == nil {
		return
	}
	d.Peers, d.Liveness = c.asks, c.redis
	d.PartitionLeases = &partitionLeases{locks: c.locks, holder: holderOf(node), lasts: e.timing().Lease}
	c.hub = notify.New(node.ID, c.redis, listener{e}, e.machine, e.logger)
	e.Runner.Others = c.hub
	d.Announce = c.hub.MembersChanged
}

// holderMark ends the id of a node, which has no such character, in the name it
// holds locks by.
const holderMark = "#"

// holderOf names one life of a node as a holder of locks.
func holderOf(node entity.Node) string {
	return node.ID + holderMark + strconv.FormatInt(node.Epoch, 10)
}

// told tells the other nodes of a job that was changed here.
func (c *cluster) told(job *entity.Job) {
	if c != nil {
		c.hub.JobChanged(job.ID)
	}
}

func (c *cluster) close() error {
	if c == nil {
		return nil
	}
	if c.asks != nil {
		c.asks.Close()
	}
	return errors.Join(c.door.close(), c.client.Close())
}

// listener does what the news of others ask for.
type listener struct{ e *Engine }

// JobsChanged implements notify.Listener.
func (l listener) JobsChanged(ctx context.Context, ids []string) error {
	return l.e.Planner.Look(ctx, ids)
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

// NewsMissed implements notify.Listener. Stops that were asked for are found by the
// reconciliation.
func (l listener) NewsMissed(ctx context.Context) error {
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

// Claim implements membership.PartitionLeases.
func (d *partitionLeases) Claim(ctx context.Context, partitions []int) ([]int, error) {
	granted, err := d.locks.ClaimMany(ctx, lockNames(partitions), d.holder, d.lasts)
	if err != nil {
		return nil, fmt.Errorf("claim partitions: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(partitions), func(p int) bool { return !slices.Contains(granted, lockName(p)) }), nil
}

// Release implements membership.PartitionLeases.
func (d *partitionLeases) Release(ctx context.Context, partitions []int) error {
	return d.locks.ReleaseMany(ctx, lockNames(partitions), d.holder)
}
