package app

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// jobLabels is how many jobs the metrics name: none where everybody can read them.
func jobLabels(cfg config.Config) int {
	if cfg.Server.MetricsToken == "" {
		return 0
	}
	return cfg.Monitoring.JobLabels
}

// watchMetrics connects the instruments to what they read, and makes the collector.
func (e *Engine) watchMetrics(tasks *periodic.Tasks) {
	e.Metrics.WatchRetention(e.retention)
	e.Metrics.Watch(metrics.Sources{
		Queue: e.Store, Runs: e.Runner, Plans: e.Planner, Loops: tasks, Clock: e.Clock, Degraded: e.degraded,
		Partitions: func() int { return len(e.Member.Partitions()) }, Nodes: e.Member.Nodes, Pools: e.Store.Stats,
		Redis: e.cluster.pool(), Host: e.host, Backlog: backlog{e}, Kafka: e.events.up(),
		Dropped: func() int64 { return e.collector.Dropped() },
	})
	e.Metrics.Build(Version())
	e.collector = monitoring.NewCollector(monitoring.CollectorDeps{
		Source: e.Metrics.Sampler(), Store: e.Store, Leads: tasks.Leads, Clock: e.Clock, NodeID: e.cfg.Node.ID,
		Publisher: e.events.collections(),
	})
}

// flushMetrics writes what was collected, when the node stops. A store that is away does not delay the stop.
func (e *Engine) flushMetrics(ctx context.Context) {
	if err := e.withShutdownTimeout(ctx, e.collector.Flush); err != nil {
		e.logger.Warn("the metrics of the last minute could not be written", "error", err)
	}
}

// pool returns what reads the connections to Redis, or nil without Redis.
func (c *cluster) pool() func() metrics.RedisPool {
	if c == nil {
		return nil
	}
	return func() metrics.RedisPool {
		why, _ := c.guard.Away()
		s := c.client.PoolStats()
		return metrics.RedisPool{
			Up: why == "", Open: s.TotalConns, Idle: s.IdleConns, Hits: s.Hits, Misses: s.Misses, Timeouts: s.Timeouts,
		}
	}
}

// backlog counts what waits for the tasks of the leader.
type backlog struct{ e *Engine }

// Events implements metrics.Backlog.
func (b backlog) Events(ctx context.Context, limit int) (map[string]int, error) {
	readers := []entity.EventReader{entity.ReaderRules}
	if b.e.events.readers.Kafka {
		readers = append(readers, entity.ReaderKafka)
	}
	out := map[string]int{}
	for _, reader := range readers {
		n, err := b.e.Store.CountEvents(ctx, reader, limit)
		if err != nil {
			return nil, err
		}
		out[string(reader)] = n
	}
	return out, nil
}

// Alerts implements metrics.Backlog. States without an alert are 0, so that a rule finds them.
func (b backlog) Alerts(ctx context.Context, limit int) (map[metrics.AlertState]int, error) {
	counts, err := b.e.Store.CountAlerts(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := map[metrics.AlertState]int{}
	for _, level := range []alert.Level{alert.Info, alert.Warning, alert.Critical} {
		for _, status := range []alert.Status{alert.Pending, alert.Firing, alert.Acknowledged} {
			out[metrics.AlertState{Level: string(level), Status: string(status)}] = 0
		}
	}
	for _, c := range counts {
		out[metrics.AlertState{Level: string(c.Level), Status: string(c.Status)}] = c.Alerts
	}
	return out, nil
}

// OldestEnd implements metrics.Backlog.
func (b backlog) OldestEnd(ctx context.Context) (time.Time, bool, error) {
	oldest, _, some, err := b.e.Store.Statistics.DigestsSince(ctx)
	return oldest, some, err
}

// up returns what reports whether the brokers take events, or nil without brokers.
func (v *events) up() func() bool {
	if v.client == nil {
		return nil
	}
	return func() bool {
		reason, _ := v.client.Trouble()
		return reason == ""
	}
}

// measured gives events to the brokers, and counts them.
type measured struct {
	maintenance.Publisher
	clock   clock.Clock
	observe func(taken, failed map[string]int, took time.Duration)
}

// Publish implements maintenance.Publisher.
func (m measured) Publish(ctx context.Context, events []entity.Event) (ids []string, err error) {
	began := m.clock.Monotonic()
	ids, err = m.Publisher.Publish(ctx, events)
	taken, failed, good := map[string]int{}, map[string]int{}, make(map[string]bool, len(ids))
	for _, id := range ids {
		good[id] = true
	}
	for _, e := range events {
		if good[e.ID] {
			taken[e.Topic]++
		} else {
			failed[e.Topic]++
		}
	}
	m.observe(taken, failed, m.clock.Monotonic()-began)
	return ids, err
}

// redisCalls observes calls of Redis.
type redisCalls struct {
	clock   clock.Clock
	observe func(took time.Duration, err error)
}

// DialHook implements redis.Hook.
func (r redisCalls) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (r redisCalls) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return r.call(func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements redis.Hook.
func (r redisCalls) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return r.call(func() error { return next(ctx, cmds) })
	}
}

func (r redisCalls) call(do func() error) error {
	began := r.clock.Monotonic()
	err := do()
	var answer redis.Error // such as that a key is missing: Redis serves
	if errors.As(err, &answer) {
		r.observe(r.clock.Monotonic()-began, nil)
	} else {
		r.observe(r.clock.Monotonic()-began, err)
	}
	return err
}
