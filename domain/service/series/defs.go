package series

import "slices"

// Defs returns every series that is kept, by name. docs/metrics.md lists the same.
func Defs() []Def {
	defs := []Def{
		{"executions.ended", Group, Sum, "executions", "Attempts that ended, of which no retry follows."},
		{"executions.failed", Group, Sum, "executions", "Those of them with status FAILED, TIMEOUT or DEAD."},
		{"executions.retried", Group, Sum, "executions", "Attempts that failed and that a retry follows."},
		{"executions.started", Group, Sum, "executions", "Attempts whose handler was entered."},
		{"executions.durationMs", Group, Sum, "ms", "Time that ended attempts took, all together."},
		{"executions.latenessMs", Group, Sum, "ms", "Time from due to started, all together."},

		{"node.fires", Node, Sum, "executions", "Executions that the node's fires recorded."},
		{"node.running", Node, Gauge, "executions", "Runs in general slots."},
		{"node.slots", Node, Gauge, "slots", "General slots."},
		{"node.commandsRunning", Node, Gauge, "executions", "Commands that run."},
		{"node.commandSlots", Node, Gauge, "slots", "Slots for commands."},
		{"node.heldEnds", Node, Gauge, "executions", "Ends of runs that the store has not taken for a minute, " +
			"or for 5 s by an answer that is not known."},
		{"node.dueSoon", Node, Gauge, "jobs", "Jobs held in memory because they are due soon."},
		{"node.partitions", Node, Gauge, "partitions", "Partitions that the node scans."},
		{"node.latenessP50Ms", Node, Gauge, "ms", "Median lateness of starts since the reading before; none without starts."},
		{"node.latenessP99Ms", Node, Gauge, "ms", "The same at 99 of 100."},
		{"node.clockOffsetMs", Node, Gauge, "ms", "How far the store's clock is ahead."},
		{"node.degradedParts", Node, Gauge, "parts", "Parts that do not work as they should."},
		{"node.oldestTaskSec", Node, Gauge, "s", "Time since the last good turn of the task that is worst behind."},
		{"node.storeQueries", Node, Sum, "statements", "Statements sent to the store."},
		{"node.storeErrors", Node, Sum, "statements", "Statements that failed."},
		{"node.storeConnections", Node, Gauge, "connections", "Connections to the store in use."},
		{"node.storeWaitMs", Node, Sum, "ms", "Time that statements waited for a connection."},
		{"node.redisConnections", Node, Gauge, "connections", "Connections to Redis that are open."},
		{"node.redisErrors", Node, Sum, "calls", "Waits for a connection to Redis that timed out."},
		{
			"node.cpu", Node, Gauge, "ratio",
			"Processors in use, of the machine or of the control group that bounds it; 0 to 1.",
		},
		{"node.memoryBytes", Node, Gauge, "bytes", "Memory in use, of the same."},
		{"node.memoryLimitBytes", Node, Gauge, "bytes", "Memory there is, of the same."},
		{"node.diskUsed", Node, Gauge, "ratio", "Used part of the disk of the data folder; 0 to 1."},
		{"node.load1", Node, Gauge, "processes", "Load of the machine over a minute."},
		{"node.goroutines", Node, Gauge, "goroutines", "Goroutines of the process."},
		{"node.heapBytes", Node, Gauge, "bytes", "Heap of the process."},

		{"cluster.ready", Cluster, Gauge, "executions", "Executions that wait for a free slot alone; at most 100,000."},
		{"cluster.scheduled", Cluster, Gauge, "executions", "Scheduled executions, among them retries; at most 100,000."},
		{"cluster.queued", Cluster, Gauge, "executions", "Executions waiting for another run of their job; at most 100,000."},
		{"cluster.grouped", Cluster, Gauge, "executions", "Executions that wait for their group's limit; at most 100,000."},
		{"cluster.unroutable", Cluster, Gauge, "executions", "Executions that no node can take; at most 100,000."},
		{"cluster.detached", Cluster, Gauge, "executions", "Executions at a target, without a node; at most 100,000."},
		{"cluster.deadLetters", Cluster, Gauge, "executions", "Dead letters that wait for a person; at most 100,000."},
		{"cluster.nodesUp", Cluster, Gauge, "nodes", "Nodes that are UP."},
		{"cluster.nodesSuspect", Cluster, Gauge, "nodes", "Nodes that are SUSPECT."},
		{"cluster.nodesDown", Cluster, Gauge, "nodes", "Nodes that are DOWN."},
	}
	slices.SortFunc(defs, func(a, b Def) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return defs
}

// Catalogue finds series by name. Safe for concurrent use.
type Catalogue struct {
	byName map[string]Def
	names  []string
}

// NewCatalogue holds all of Defs.
func NewCatalogue() *Catalogue {
	c := &Catalogue{byName: map[string]Def{}}
	for _, d := range Defs() {
		c.byName[d.Name] = d
		c.names = append(c.names, d.Name)
	}
	return c
}

// Find returns the series with a name.
func (c *Catalogue) Find(name string) (Def, bool) {
	d, ok := c.byName[name]
	return d, ok
}

// Names returns all names, sorted.
func (c *Catalogue) Names() []string { return slices.Clone(c.names) }
