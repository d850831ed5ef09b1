package metrics

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// Sources are what gauges are read from. All but Redis are required.
type Sources struct {
	Queue Queue
	Runs  Runs
	Plans Plans
	Loops Loops
	Clock Clock
	// Degraded names the parts that do not work as they should.
	Degraded   func() []string
	Partitions func() int
	// Nodes are those of the registry, as this node last saw it.
	Nodes func() []entity.Node
	// Pools are the connections to the store, by what they are for.
	Pools func() map[string]sql.DBStats
	// Redis is nil where the node uses none.
	Redis func() RedisPool
	Host  interface{ Usage() hostmetrics.Usage }
	// Backlog counts what waits for the tasks of the leader.
	Backlog Backlog
	// Kafka reports whether the brokers take events; nil where there are none.
	Kafka func() bool
	// Dropped is how many rows of time series were given up, because the store was away for too long.
	Dropped func() int64
}

// Backlog counts what waits for the tasks of the leader.
type Backlog interface {
	// Events returns how many events wait for each reader, at most limit.
	Events(ctx context.Context, limit int) (map[string]int, error)
	// Alerts returns how many alerts are open, by level and status, at most limit.
	Alerts(ctx context.Context, limit int) (map[AlertState]int, error)
	// OldestEnd returns when the oldest end was recorded that is in no statistics yet; false: there is none.
	OldestEnd(ctx context.Context) (time.Time, bool, error)
}

// AlertState is what open alerts are counted by.
type AlertState struct{ Level, Status string }

// RedisPool is the state of the connections to Redis. Hits to Timeouts count since the start.
type RedisPool struct {
	Up                     bool
	Open, Idle             uint32
	Hits, Misses, Timeouts uint32
}

// Queue counts executions by their claim keys, and dead letters.
type Queue interface {
	CountRange(ctx context.Context, r repository.ClaimRange) (int, error)
	CountLetters(ctx context.Context, groups []string, limit int) (n int, more bool, err error)
}

// Runs returns how many slots of a kind are in use. It also returns how many ends of runs the
// store has not accepted for more than a minute.
type Runs interface {
	Load(kind entity.SlotKind) (running, slots int)
	HeldEnds() int
}

// Plans returns how many jobs are held because they are due soon, and how many due jobs wait
// for rows that others have locked.
type Plans interface {
	Held() int
	Locked() int
}

// Loops returns the ages of the last good turns of this node's tasks, and whether this node
// does the tasks of the leader.
type Loops interface {
	Ages() map[string]time.Duration
	Leads() bool
}

// Clock is the store's. Offset is how far it is ahead of this node's.
type Clock interface {
	Now() time.Time
	Offset() time.Duration
}
