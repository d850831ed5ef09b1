package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The parts that rules of alerts tell apart.
const (
	partDrain    = "drain"
	partVersions = "versions"
	partUnplaced = "unplaced"
)

// parts returns what may fail on this node besides the store and the tasks.
func (e *Engine) parts() []monitor.Part {
	return []monitor.Part{
		{Name: "redis", Check: e.cluster.trouble},
		{Name: "kafka", Check: e.events.trouble},
		{Name: "alert-events", Check: func() (string, bool) { return e.events.unread.Trouble() }},
		{Name: "membership", Check: func() (string, bool) { return e.Member.Standing() }},
		{Name: partDrain, Check: func() (string, bool) { return e.Member.Draining() }},
		{Name: monitor.PartClock, Check: e.skew},
		{Name: "retention", Check: func() (string, bool) { return e.retention.Behind() }},
		{Name: "statistics", Check: e.statisticsTrouble},
		{Name: "ends", Check: func() (string, bool) { return e.Runner.Ends.Holding() }},
		{Name: monitor.PartNode, Check: func() (string, bool) { return e.Member.Missing() }},
		{Name: "leader", Check: e.leaderless},
		{Name: "peers", Check: e.peersTrouble},
		{Name: partVersions, Check: func() (string, bool) { return e.Member.Versions() }},
		{Name: monitor.PartCommands, Check: e.commandTrouble},
		{Name: "secrets", Check: e.Secrets.Lost},
		{Name: partUnplaced, Check: func() (string, bool) { return e.dispatch.Unroutable() }},
		{Name: "channels", Check: e.notifying.notifier.Trouble},
		{Name: "locks", Check: e.lockedJobs},
		{Name: "rows", Check: e.unreadableRows},
		{Name: "weekly-report", Check: func() (string, bool) { return e.reactions.reportTrouble() }},
		{Name: "alert-actions", Check: func() (string, bool) { return e.reactions.actor.Trouble() }},
	}
}

// commandTrouble reports that commands are off although they should be on, or that too
// many users can reach them.
func (e *Engine) commandTrouble() (reason string, blocks bool) {
	if e.processes != nil && e.processes.Off() != "" {
		return e.processes.Off(), false
	}
	if e.exposure != nil {
		return e.exposure.Trouble()
	}
	return "", false
}

// trouble reports that Redis is away; a node without Redis needs none.
func (c *cluster) trouble() (reason string, blocks bool) {
	if c == nil {
		return "", false
	}
	if why, _ := c.guard.Away(); why == "" {
		return "", false
	}
	return "Redis does not serve: hints and partition leases are off, and work of other nodes is found by the sweeps, " +
		"up to a second later", false
}

// lockedJobs reports that due jobs do not fire; the log names them.
func (e *Engine) lockedJobs() (reason string, blocks bool) {
	if _, count := e.Planner.LockedLong(); count > 0 {
		reason = fmt.Sprintf("%d due jobs do not fire, because another client of the store has locked their rows; the log "+
			"names them", count)
	}
	return reason, false
}

// unreadableRows reports that the node skips rows of the store; the log names them.
func (e *Engine) unreadableRows() (reason string, blocks bool) {
	rows := e.Store.Unreadable()
	if len(rows) == 0 {
		return "", false
	}
	kinds := map[string]int{}
	for _, row := range rows {
		kinds[row.Kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s: %d", kind, kinds[kind]))
	}
	return "the node skips rows of the store that it cannot read (" + strings.Join(parts, ", ") + "); the log names them",
		false
}

func (e *Engine) skew() (reason string, blocks bool) {
	if offset := e.Clock.Offset(); entity.Skewed(offset) {
		reason = monitor.SkewReason(e.Member.Self().ID, offset)
	}
	return reason, false
}

// Degraded implements cluster.MonitorService.
func (e *Engine) Degraded(ctx context.Context) []monitor.Trouble {
	found := e.Monitor.Degraded(ctx)
	if since := e.stopped.Load(); since != nil {
		found = append(found, monitor.Trouble{Part: "stop", Reason: "the node is stopping", Since: *since, Blocks: true})
	}
	return found
}

// degraded returns the parts with known trouble, for metrics.
func (e *Engine) degraded() []string {
	var names []string
	if e.Member.Away() {
		names = append(names, monitor.PartStore)
	}
	for _, t := range e.Monitor.Known() {
		names = append(names, t.Part)
	}
	return names
}
