package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Queue counts executions by their claim keys.
type Queue interface {
	CountRange(ctx context.Context, r repository.ClaimRange) (int, error)
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

// Clock returns how far the store's clock is ahead.
type Clock interface {
	Offset() time.Duration
}

// countLimit bounds the count of a queue at a scrape; a longer queue shows this number.
const countLimit = 100_000

// scrapeTimeout bounds the store's part of a scrape.
const scrapeTimeout = 2 * time.Second

// Watch adds the gauges that are read at scrape time. degraded names the parts that do not work
// as they should.
func (m *MetricsCollector) Watch(q Queue, runs Runs, plans Plans, loops Loops, clock Clock, degraded func() []string) {
	m.registry.MustRegister(&gauges{
		queue: q, runs: runs, plans: plans, loops: loops, clock: clock, degraded: degraded,
		trouble: prometheus.NewDesc("ps_degraded", "1 for each part that does not work as it should, see /readyz.",
			[]string{"part"}, nil),
		depth: prometheus.NewDesc("ps_queue_depth",
			"Waiting executions, by what they wait for, and detached ones; at most 100000.", []string{"state"}, nil),
		unplaced: prometheus.NewDesc("ps_unplaced_runs",
			"Waiting executions that no node can take, by what is missing: NODE (one with the labels), COMMAND (one that runs "+
				"commands) or HANDLER. Alert on any that lasts.", []string{"waits_for"}, nil),
		running:      prometheus.NewDesc("ps_running", "Runs on this node in general slots.", nil, nil),
		slots:        prometheus.NewDesc("ps_slots", "General slots of this node.", nil, nil),
		commands:     prometheus.NewDesc("ps_command_running", "Commands that run on this node.", nil, nil),
		commandSlots: prometheus.NewDesc("ps_command_slots", "Slots for commands of this node.", nil, nil),
		ends: prometheus.NewDesc("ps_held_ends",
			"Ends of runs that the store has not taken for more than a minute. Alert on any.", nil, nil),
		held: prometheus.NewDesc("ps_due_soon", "Jobs held in memory because they are due soon.", nil, nil),
		locked: prometheus.NewDesc("ps_jobs_locked", "Due jobs that wait because somebody else has locked their rows.", nil,
			nil),
		age: prometheus.NewDesc("ps_loop_age_seconds", "Time since the last good tick of a task.", []string{"loop"}, nil),
		leads: prometheus.NewDesc("ps_duties_leader", "1 on the node that does the tasks of the leader, else 0.", nil,
			nil),
		offset: prometheus.NewDesc("ps_clock_offset_seconds",
			"How far the clock of the store is ahead of this node's, as far as that is certain. Alert beyond 1 and -1.", nil,
			nil),
	})
}

type gauges struct {
	queue Queue
	runs  Runs
	plans Plans
	loops Loops
	clock Clock

	degraded func() []string

	depth, unplaced, running, slots, commands, commandSlots, ends, held, locked, age, leads, offset,
	trouble *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.depth, g.unplaced, g.running, g.slots, g.commands, g.commandSlots, g.ends,
		g.held, g.locked, g.age, g.leads, g.offset, g.trouble,
	} {
		ch <- d
	}
}

// missing splits the executions that no node can take by what the nodes lack. Without such
// executions it does not ask the store.
func (g *gauges) missing(ctx context.Context, unplaced int) map[entity.Wait]int {
	out := map[entity.Wait]int{entity.WaitNode: unplaced, entity.WaitCommand: 0, entity.WaitHandler: 0}
	if unplaced == 0 {
		return out
	}
	for _, wait := range []entity.Wait{entity.WaitCommand, entity.WaitHandler} {
		for _, s := range wait.Spans() {
			n, err := g.queue.CountRange(ctx, repository.ClaimRange{Lo: s.Lo, Hi: s.Hi, Limit: countLimit})
			if err != nil {
				return nil
			}
			out[wait] += n
			out[entity.WaitNode] = max(out[entity.WaitNode]-n, 0)
		}
	}
	return out
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	for _, part := range []struct {
		state string
		span  entity.ClaimSpan
	}{
		{"ready", entity.ReadySpan()},
		{"unplaced", entity.UnroutableSpan()},
		{"parked", entity.ScheduledSpan()},
		{"grouped", entity.GroupedSpan()},
		{"queued", entity.QueuedSpan()},
		{"detached", entity.DetachedSpan()},
	} {
		n, err := g.queue.CountRange(ctx, repository.ClaimRange{Lo: part.span.Lo, Hi: part.span.Hi, Limit: countLimit})
		if err != nil {
			continue
		}
		gauge(g.depth, float64(n), part.state)
		if part.state == "unplaced" {
			for wait, n := range g.missing(ctx, n) {
				gauge(g.unplaced, float64(n), string(wait))
			}
		}
	}
	for _, kind := range entity.SlotKinds() {
		running, total := g.runs.Load(kind)
		d := [2]*prometheus.Desc{g.running, g.slots}
		if kind == entity.SlotCommand {
			d = [2]*prometheus.Desc{g.commands, g.commandSlots}
		}
		gauge(d[0], float64(running))
		gauge(d[1], float64(total))
	}
	gauge(g.ends, float64(g.runs.HeldEnds()))
	gauge(g.held, float64(g.plans.Held()))
	gauge(g.locked, float64(g.plans.Locked()))
	leads := 0.0
	if g.loops.Leads() {
		leads = 1
	}
	gauge(g.leads, leads)
	gauge(g.offset, g.clock.Offset().Seconds())
	parts := g.degraded()
	slices.Sort(parts)
	for _, part := range slices.Compact(parts) {
		gauge(g.trouble, 1, part)
	}
	for name, age := range g.loops.Ages() {
		gauge(g.age, age.Seconds(), name)
	}
}
