package metrics

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Watch adds the gauges that are read at scrape time. Call it once.
func (m *MetricsCollector) Watch(s Sources) {
	m.sources, m.counts = s, newCounts(s.Queue, s.Backlog, m.jobs.clock)
	build := maker{m.registry}
	build.figures(s.showHost, hostFigures()...)
	build.figures(func(gauge, count show) { s.showBacklog(m.counts, gauge, count) }, backlogFigures()...)
	build.figures(func(gauge, _ show) { s.show(m.counts, gauge) }, nodeFigures()...)
}

func nodeFigures() []figure {
	return []figure{
		{"ps_degraded", "1 for each part that does not work as it should, see /readyz.", []string{"part"}},
		{
			"ps_queue_depth",
			"Waiting executions, by what they wait for, and detached ones; at most 100000. Up to 20 s old.",
			[]string{"state"},
		},
		{
			"ps_unplaced_runs", "Waiting executions that no node can take, by what is missing: NODE (one with " +
				"the labels), COMMAND (one that runs commands) or HANDLER. Alert on any that lasts.", []string{"waits_for"},
		},
		{"ps_dead_letters", "Dead letters that wait for a person, on the leader; at most 100000. Up to 20 s old.", nil},
		{"ps_nodes", "Nodes in the registry, by status, as this node sees it.", []string{"status"}},
		{"ps_running", "Runs on this node in general slots.", nil},
		{"ps_slots", "General slots of this node.", nil},
		{"ps_command_running", "Commands that run on this node.", nil},
		{"ps_command_slots", "Slots for commands of this node.", nil},
		{
			"ps_held_ends", "Ends of runs that the store has not taken for a minute, or for 5 s by an answer that is not " +
				"known. Alert on any.", nil,
		},
		{"ps_due_soon", "Jobs held in memory because they are due soon.", nil},
		{"ps_jobs_locked", "Due jobs that wait because somebody else has locked their rows.", nil},
		{"ps_partitions", "Partitions that this node scans.", nil},
		{"ps_loop_age_seconds", "Time since the last good tick of a task.", []string{"loop"}},
		{"ps_duties_leader", "1 on the node that does the tasks of the leader, else 0.", nil},
		{
			"ps_clock_offset_seconds", "How far the clock of the store is ahead of this node's, as far as that is " +
				"certain. Alert beyond 1 and -1.", nil,
		},
	}
}

func (s Sources) show(c *counts, gauge show) {
	leads := s.Loops.Leads()
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found := c.read(ctx, countAge, leads)
	for state, n := range found.depth {
		gauge("ps_queue_depth", float64(n), state)
	}
	for wait, n := range found.missing {
		gauge("ps_unplaced_runs", float64(n), string(wait))
	}
	if leads && found.hasLetters {
		gauge("ps_dead_letters", float64(found.letters))
	}
	for status, n := range byStatus(s.Nodes()) {
		gauge("ps_nodes", float64(n), string(status))
	}
	for _, kind := range entity.SlotKinds() {
		running, total := s.Runs.Load(kind)
		prefix := "ps_"
		if kind == entity.SlotCommand {
			prefix = "ps_command_"
		}
		gauge(prefix+"running", float64(running))
		gauge(prefix+"slots", float64(total))
	}
	gauge("ps_held_ends", float64(s.Runs.HeldEnds()))
	gauge("ps_due_soon", float64(s.Plans.Held()))
	gauge("ps_jobs_locked", float64(s.Plans.Locked()))
	gauge("ps_partitions", float64(s.Partitions()))
	gauge("ps_duties_leader", flag(leads))
	gauge("ps_clock_offset_seconds", s.Clock.Offset().Seconds())
	parts := s.Degraded()
	slices.Sort(parts)
	for _, part := range slices.Compact(parts) {
		gauge("ps_degraded", 1, part)
	}
	for name, age := range s.Loops.Ages() {
		gauge("ps_loop_age_seconds", age.Seconds(), name)
	}
}
