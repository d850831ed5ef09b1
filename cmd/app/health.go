package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The parts that rules of alerts tell apart.
const (
	partDrain      = "drain"
	partVersions   = "versions"
	partUnroutable = "unplaced"
	partStandby    = "standby"
	partExposure   = "exposure"
	partDisk       = "disk"
)

// checks returns what may fail on this node besides the store and the tasks.
func (p *parts) checks() []monitor.Part {
	return []monitor.Part{
		{Name: partStandby, Check: p.gate.Trouble},
		{Name: "redis", Check: p.cluster.trouble},
		{Name: "kafka", Check: p.exports.trouble},
		{Name: "alert-events", Check: p.events.unread.Trouble},
		{Name: "membership", Check: p.Member.Standing},
		{Name: partDrain, Check: p.Member.Draining},
		{Name: monitor.PartClock, Check: p.skew},
		{Name: "retention", Check: p.retention.Behind},
		{Name: "statistics", Check: p.statisticsTrouble},
		{Name: "ends", Check: func() (string, bool) { return p.Runner.Ends.Holding() }},
		{Name: monitor.PartNode, Check: p.Member.Missing},
		{Name: "leader", Check: p.leaderless},
		{Name: "peers", Check: p.peersTrouble},
		{Name: partVersions, Check: p.Member.Versions},
		{Name: monitor.PartCommands, Check: p.commandTrouble},
		{Name: partExposure, Check: p.exposureTrouble},
		{Name: "secrets", Check: p.Secrets.Lost},
		{Name: partUnroutable, Check: p.dispatch.Unroutable},
		{Name: "channels", Check: p.sending.notifier.Trouble},
		{Name: "locks", Check: p.lockedJobs},
		{Name: "connections", Check: func() (string, bool) { return p.options.Door(), false }},
		{Name: partDisk, Check: p.room.Trouble},
		{Name: "rows", Check: p.unreadableRows},
		{Name: "weekly-report", Check: p.reportTrouble},
		{Name: "alert-actions", Check: p.actor.Trouble},
	}
}

// commandTrouble reports that commands are off although they should be on, or that too
// many users can reach them.
func (p *parts) commandTrouble() (reason string, blocks bool) {
	if p.options.Processes != nil && p.options.Processes.Off() != "" {
		return p.options.Processes.Off(), false
	}
	if p.exposure != nil {
		return p.exposure.Trouble()
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
func (p *parts) lockedJobs() (reason string, blocks bool) {
	if _, count := p.Planner.LockedLong(); count > 0 {
		reason = fmt.Sprintf("%d due jobs do not fire, because another client of the store has locked their rows; the log "+
			"names them", count)
	}
	return reason, false
}

// unreadableRows reports that the node skips rows of the store, or sets aside or passes over rows that the store
// refuses. The log names them.
func (p *parts) unreadableRows() (reason string, blocks bool) {
	rows := p.Store.Unreadable()
	refused := strings.Join(slices.DeleteFunc([]string{p.alerts.book.Trouble(), p.Runner.PassedOver()},
		func(text string) bool { return text == "" }), "; ")
	if len(rows) == 0 {
		return refused, false
	}
	kinds := map[string]int{}
	for _, row := range rows {
		kinds[row.Kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s: %d", kind, kinds[kind]))
	}
	reason = "the node skips rows of the store that it cannot read (" + strings.Join(parts, ", ") + "); the log names them"
	if refused != "" {
		reason += "; " + refused
	}
	return reason, false
}

func (p *parts) skew() (reason string, blocks bool) {
	if offset := p.Clock.Offset(); entity.Skewed(offset) {
		reason = monitor.SkewReason(p.Member.Self().ID, offset)
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
func degraded(m *membership.Member, health *monitor.MonitorService) func() []string {
	return func() (names []string) {
		if m.Away() {
			names = append(names, monitor.PartStore)
		}
		for _, t := range health.Known() {
			names = append(names, t.Part)
		}
		return names
	}
}
