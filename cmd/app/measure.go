package app

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// jobLabels is how many jobs the metrics name: none where everybody can read them.
func jobLabels(cfg config.Config) int {
	if cfg.Server.MetricsToken == "" {
		return 0
	}
	return cfg.Monitoring.JobLabels
}

// views are what people and programs see of a node.
type views struct {
	Monitor  *monitor.MonitorService
	Overview *monitor.OverviewService

	collector *monitoring.Collector
}

// newViews connects the instruments to what they read, too.
func newViews(p *parts) views {
	health := monitor.NewMonitorService(p.Store, p.tasks, p.machine, p.checks()...)
	collector := monitoring.NewCollector(monitoring.CollectorDeps{
		Source: p.Metrics.Sampler(), Store: p.Store, Leads: p.tasks.Leads, Clock: p.Clock, NodeID: p.cfg.Node.ID,
		Publisher: p.exports.collections(),
	})
	p.Metrics.WatchRetention(p.retention)
	p.Metrics.Watch(metrics.Sources{
		Queue: p.Store, Runs: p.Runner, Plans: p.Planner, Loops: p.tasks, Clock: p.Clock,
		Degraded:   degraded(p.Member, health),
		Partitions: func() int { return len(p.Member.Partitions()) }, Nodes: p.Member.Nodes, Pools: p.Store.Stats,
		Redis: p.cluster.pool(), Host: p.host, Backlog: backlog{p.Store, p.exports.readers}, Kafka: p.exports.up(),
		Dropped: collector.Dropped,
	})
	p.Metrics.Build(Version())
	return views{
		health,
		monitor.NewOverviewService(monitor.OverviewDeps{
			Counts: p.Store, Nodes: p.Store, Leader: p.leader, Monitor: health, Lateness: p.Metrics, Clock: p.Clock,
			Machine: p.machine,
		}),
		collector,
	}
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
type backlog struct {
	store   *persistence.Store
	readers entity.EventReaders
}

// Events implements metrics.Backlog.
func (b backlog) Events(ctx context.Context, limit int) (map[string]int, error) {
	readers := []entity.EventReader{entity.ReaderRules}
	if b.readers.Kafka {
		readers = append(readers, entity.ReaderKafka)
	}
	out := map[string]int{}
	for _, reader := range readers {
		n, err := b.store.CountEvents(ctx, reader, limit)
		if err != nil {
			return nil, err
		}
		out[string(reader)] = n
	}
	return out, nil
}

// Alerts implements metrics.Backlog. States without an alert are 0, so that a rule finds them.
func (b backlog) Alerts(ctx context.Context, limit int) (map[metrics.AlertState]int, error) {
	counts, err := b.store.CountAlerts(ctx, limit)
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
	oldest, _, some, err := b.store.Statistics.DigestsSince(ctx)
	return oldest, some, err
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
	failure := err
	if errors.As(err, &answer) {
		failure = nil
	}
	r.observe(r.clock.Monotonic()-began, failure)
	return err
}
