// Package cluster holds the commands about the cluster: its nodes, the state of everything at a glance, and
// statistics.
package cluster

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// kindCommand are the slots of commands; those of all other runs are general.
const kindCommand = "COMMAND"

// busy is how many runs of any kind a node has.
func busy(o remote.Object) int64 {
	busy := o.Int("running")
	for _, s := range o.List("capabilities.slots") {
		if s.Text("kind") == kindCommand {
			busy += s.Int("running")
		}
	}
	return busy
}

// words are what a node, or a handler, is in words.
var words = remote.Words{
	"address":  remote.Said("{ip}:{port}"),
	"occupied": remote.Said("{running}/{slots}"),
	"busy":     func(_ *remote.Call, o remote.Object) string { return fmt.Sprint(busy(o)) },
	// How many commands run, and may; nothing on a node that does not say.
	"commands": func(_ *remote.Call, o remote.Object) string {
		for _, s := range o.List("capabilities.slots") {
			if s.Text("kind") == kindCommand {
				return s.Text("running") + "/" + s.Text("total")
			}
		}
		return ""
	},
	"load": func(_ *remote.Call, o remote.Object) string {
		return fmt.Sprintf("%.0f %% of the processors, %d MiB", 100*o.Float("cpu"), o.Int("memory")>>20)
	},
	"clock": remote.If("clockSkewed", "{clockOffsetMs|took}, more than a second off", "{clockOffsetMs|took}"),
	// Which nodes have a handler.
	"where": remote.If("builtIn", "every node (built in)", "{nodes}"),
}

// verbs are the commands for nodes.
var verbs = []remote.Verb{
	{
		Use: "list", Short: "List the nodes", Example: "node list -o json", Path: "/nodes",
		Columns: "id, status, address, roles|comma, running=occupied, commands, partitions|count, labels, version, " +
			"last beat=lastHeartbeat|moment",
	},
	{
		Use: "get ID", Short: "Show a node", Example: "node get node-2", Path: "/nodes/{0}",
		Fields: "Id=id, Status=status, Address=address, Epoch=epoch, Roles=roles, Labels=labels, Weight=weight, " +
			"Running=occupied, Commands=commands, Handlers=capabilities.handlers, Load=load, Partitions=partitions|count, " +
			"Version=version, Clock=clock, Last beat=lastHeartbeat|moment",
	},
	{
		Use: "drain ID", Short: "Start no new runs on a node; its runs go on to their end",
		Own: []remote.Flag{
			{Name: "wait", Short: "w", Default: false, Help: "wait until nothing runs there any more"},
		},
		Example: "node drain node-2\nnode drain node-2 --wait && ssh node-2 systemctl restart platform-scheduler",
		Method:  "POST", Path: "/nodes/{0}/drain", Watch: waits,
		Then: func(k *remote.Call, o remote.Object) error {
			if waits(k) {
				return awaitDrained(k)
			}
			k.Finish("{id} starts nothing new; {busy} (run goes|runs go) on there", o)
			return nil
		},
	},
	{
		Use: "resume ID", Short: "Let runs start on a node again", Example: "node resume node-2",
		Method: "POST", Path: "/nodes/{0}/resume", Done: "{id} starts runs again",
	},
	{
		Use: "handlers", Short: "List the handlers that CUSTOM jobs may name, and the nodes that have them",
		Example: "node handlers", Path: "/handlers", Columns: "name, nodes=where",
	},
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return append([]*cobra.Command{s.Parent(remote.Verb{
		Use: "node", Short: "List and drain the nodes of the cluster",
		Example: "node list\nnode drain node-2 --wait",
		Offers:  remote.Nodes, Words: words,
	}, verbs...)}, s.Commands(overview, metrics, stats, today, failures, remote.Verb{
		Use: "settings", Short: "List the settings of the node that answers, without secrets",
		Example: "settings\nsettings -o json", Path: "/settings", Columns: "name, value|bare, source, meaning",
	}, remote.Verb{
		Use: "set-aside", Short: "List what the store refused of alerts, messages and statistics, newest first",
		Example: "set-aside\nset-aside -o json",
		Path:    "/monitor/set-aside", Columns: "kind, state, time, job=jobId, rule=ruleId, reason",
	})...)
}

// drainPause is the time between two looks at a node that is drained.
const drainPause = time.Second

// drainLooks in a row must see nothing running. They last longer than a beat of a standalone
// server, which may not know of the drain before.
const drainLooks = 4

func waits(k *remote.Call) bool { return k.On("wait") }

// awaitDrained waits until a node that is drained runs nothing. The registry tells how much it
// runs with its next beat: one look at nothing is not enough.
func awaitDrained(k *remote.Call) error {
	id := k.Args[0]
	for nothing := 0; ; {
		o, err := k.Do("GET", "/nodes/{0}", nil)
		switch status := o.Text("status"); {
		case err != nil:
			return err
		case status == "DOWN":
			return fmt.Errorf("%s is down", id)
		case status != "DRAINING":
			return fmt.Errorf("%s is %s: another caller resumed it", id, status)
		case busy(o) > 0:
			nothing = 0
		default:
			nothing++
		}
		if nothing > drainLooks {
			k.Finish("{0} runs nothing any more", o)
			return nil
		}
		if err := clock.Sleep(k.Cmd.Context(), k.Clock, drainPause); err != nil {
			return err
		}
	}
}

// overview is the state of everything at a glance.
var overview = remote.Verb{
	Use: "overview", Short: "Show the state of everything at a glance", Example: "overview\noverview -o json",
	Path: "/monitor/overview",
	Show: func(k *remote.Call, o remote.Object) {
		k.Describe("Time=time|moment, Nodes=nodes, Leader=leader, Jobs=jobs, Running=running, Waiting=waiting, "+
			"Last hour=hour, Dead letters=letters, Lateness=lateness", o)
		if degraded := o.List("degradedParts"); len(degraded) > 0 {
			k.Line("\nNot as it should be:")
			k.Table("part, since|moment, reason", degraded)
		}
	},
	Words: remote.Words{
		"nodes": remote.Said("{nodes.up} up, {nodes.suspect} suspect, {nodes.down} down, {nodes.draining} draining"),
		"jobs": remote.Said("{jobs.enabled} enabled, {jobs.paused} paused, {jobs.created} created, " +
			"{jobs.finished} finished"),
		"leader":  remote.If("leader", "{leader|text}", "nobody"),
		"running": atLeast("executions.running"),
		"waiting": atLeast("executions.waiting"),
		"letters": atLeast("deadLetters"),
		"more":    remote.If("executions.lastHour.atLeast", ", or more", ""),
		"hour": func(k *remote.Call, o remote.Object) string {
			return k.Sentence("{success} succeeded, {failed} failed, {timeout} timed out, {cancelled} cancelled, "+
				"{skipped} skipped, {dead} dead", o.Inner("executions.lastHour")) + k.Sentence("{more}", o)
		},
		"lateness": remote.Said("[p50 {latenessMs.p50|exact} ms, " +
			"p99 {latenessMs.p99|exact} ms on the node that answered]"),
	},
}

// atLeast is a count that may have hit its bound.
func atLeast(path string) func(k *remote.Call, o remote.Object) string {
	return remote.If(path+"AtLeast", "{"+path+"} or more", "{"+path+"}")
}

var metrics = remote.Verb{
	Use: "metrics NAME", Short: "Show a time series of the nodes, the groups or the cluster",
	Long:    "Show a time series of the nodes, the groups or the cluster. docs/metrics.md lists the names.",
	Example: "metrics executions.ended --step 300\nmetrics node.cpu --node n1 --from \"2026-11-16 02:00\"",
	Flags: []remote.Flag{
		{Name: "node", As: "nodeId", Help: "only this node"},
		{Name: "group", Help: "only the jobs of this group"},
		{Name: "from", To: remote.Moment, Help: "begin at this `TIME`; by default an hour before the end"},
		{Name: "to", To: remote.Moment, Help: "end at this `TIME`; by default now"},
		{Name: "step", Default: 0, Help: "`SECONDS` of a point, a multiple of 60; by default chosen by the span"},
	},
	Path: "/monitor/metrics", Arg: "name",
	Show: func(k *remote.Call, o remote.Object) {
		var rows [][]string
		for _, line := range o.List("series") {
			for _, p := range line.List("points") {
				row := []string{k.Moment(p.Text("time")), line.Text("nodeId")}
				for _, name := range []string{"value", "min", "max"} {
					row = append(row, fmt.Sprintf("%.6g", p.Float(name)))
				}
				rows = append(rows, row)
			}
		}
		k.Rows([]string{"TIME", "NODE", "VALUE (" + o.Text("unit") + ")", "MIN", "MAX"}, rows)
		if !o.Is("complete") {
			k.Line("There are more values: ask for a shorter span.")
		}
	},
}
