package metrics

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Watch adds the gauges that are read at scrape time. Call it once.
func (m *MetricsCollector) Watch(s Sources) {
	one := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	by := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	m.sources, m.counts = s, newCounts(s.Queue, s.Backlog, m.jobs.clock)
	m.registry.MustRegister(newHostCollector(s), newBacklog(s, m.counts), &gauges{
		Sources: s, counts: m.counts,
		trouble: by("ps_degraded", "1 for each part that does not work as it should, see /readyz.", "part"),
		depth: by("ps_queue_depth",
			"Waiting executions, by what they wait for, and detached ones; at most 100000. Up to 20 s old.", "state"),
		unplaced: by("ps_unplaced_runs", "Waiting executions that no node can take, by what is missing: NODE (one with the "+
			"labels), COMMAND (one that runs commands) or HANDLER. Alert on any that lasts.", "waits_for"),
		letters: one("ps_dead_letters",
			"Dead letters that wait for a person, on the leader; at most 100000. Up to 20 s old."),
		nodes:   by("ps_nodes", "Nodes in the registry, by status, as this node sees it.", "status"),
		running: one("ps_running", "Runs on this node in general slots."),
		slots:   one("ps_slots", "General slots of this node."),

		commands:     one("ps_command_running", "Commands that run on this node."),
		commandSlots: one("ps_command_slots", "Slots for commands of this node."),
		ends: one("ps_held_ends",
			"Ends of runs that the store has not taken for more than a minute. Alert on any."),
		held:       one("ps_due_soon", "Jobs held in memory because they are due soon."),
		locked:     one("ps_jobs_locked", "Due jobs that wait because somebody else has locked their rows."),
		partitions: one("ps_partitions", "Partitions that this node scans."),
		age:        by("ps_loop_age_seconds", "Time since the last good tick of a task.", "loop"),
		leads:      one("ps_duties_leader", "1 on the node that does the tasks of the leader, else 0."),
		offset: one("ps_clock_offset_seconds", "How far the clock of the store is ahead of this node's, as far as that is "+
			"certain. Alert beyond 1 and -1."),
	})
}

type gauges struct {
	Sources
	counts *counts

	depth, unplaced, letters, nodes, running, slots, commands, commandSlots, ends, held, locked, partitions, age, leads,
	offset, trouble *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.depth, g.unplaced, g.letters, g.nodes, g.running, g.slots, g.commands, g.commandSlots, g.ends, g.held, g.locked,
		g.partitions, g.age, g.leads, g.offset, g.trouble,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	leads := 0.0
	if g.Loops.Leads() {
		leads = 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found := g.counts.read(ctx, countAge, leads == 1)
	for state, n := range found.depth {
		gauge(g.depth, float64(n), state)
	}
	for wait, n := range found.missing {
		gauge(g.unplaced, float64(n), string(wait))
	}
	if leads == 1 && found.hasLetters {
		gauge(g.letters, float64(found.letters))
	}
	for status, n := range byStatus(g.Nodes()) {
		gauge(g.nodes, float64(n), string(status))
	}
	for _, kind := range entity.SlotKinds() {
		running, total := g.Runs.Load(kind)
		d := [2]*prometheus.Desc{g.running, g.slots}
		if kind == entity.SlotCommand {
			d = [2]*prometheus.Desc{g.commands, g.commandSlots}
		}
		gauge(d[0], float64(running))
		gauge(d[1], float64(total))
	}
	gauge(g.ends, float64(g.Runs.HeldEnds()))
	gauge(g.held, float64(g.Plans.Held()))
	gauge(g.locked, float64(g.Plans.Locked()))
	gauge(g.partitions, float64(g.Partitions()))
	gauge(g.leads, leads)
	gauge(g.offset, g.Clock.Offset().Seconds())
	parts := g.Degraded()
	slices.Sort(parts)
	for _, part := range slices.Compact(parts) {
		gauge(g.trouble, 1, part)
	}
	for name, age := range g.Loops.Ages() {
		gauge(g.age, age.Seconds(), name)
	}
}
