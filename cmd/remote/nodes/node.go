// Package nodes holds the commands about the cluster: its nodes, and the state
// of everything at a glance.
package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// node is what the commands show of a node.
type node struct {
	ID            string            `json:"id"`
	IP            string            `json:"ip"`
	Port          int               `json:"port"`
	Status        string            `json:"status"`
	Epoch         int64             `json:"epoch"`
	Roles         []string          `json:"roles"`
	Labels        map[string]string `json:"labels"`
	Weight        int               `json:"weight"`
	Slots         int               `json:"slots"`
	Running       int               `json:"running"`
	Capabilities  capabilities      `json:"capabilities"`
	CPU           float64           `json:"cpu"`
	Memory        int64             `json:"memory"`
	Version       string            `json:"version"`
	Partitions    []int             `json:"partitions"`
	ClockOffsetMs int64             `json:"clockOffsetMs"`
	ClockSkewed   bool              `json:"clockSkewed"`
	LastHeartbeat *string           `json:"lastHeartbeat"`
}

// capabilities are what a node can run.
type capabilities struct {
	Slots []struct {
		Kind    string `json:"kind"`
		Total   int    `json:"total"`
		Running int    `json:"running"`
	} `json:"slots"`
	Handlers []string `json:"handlers"`
}

// kindCommand are the slots of commands; those of all other runs are general.
const kindCommand = "COMMAND"

// commands is how many commands run, and may; "" on a node that does not say.
func (n node) commands() string {
	for _, s := range n.Capabilities.Slots {
		if s.Kind == kindCommand {
			return fmt.Sprintf("%d/%d", s.Running, s.Total)
		}
	}
	return ""
}

// busy is how many runs of any kind the node has.
func (n node) busy() int {
	busy := n.Running
	for _, s := range n.Capabilities.Slots {
		if s.Kind == kindCommand {
			busy += s.Running
		}
	}
	return busy
}

func (n node) address() string { return fmt.Sprintf("%s:%d", n.IP, n.Port) }

func (n node) load() string {
	return fmt.Sprintf("%.0f %% of the processors, %d MiB", 100*n.CPU, n.Memory>>20)
}

func (n node) labels() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		parts = append(parts, name+"="+n.Labels[name])
	}
	return strings.Join(parts, ", ")
}

func (n node) clock() string {
	text := (time.Duration(n.ClockOffsetMs) * time.Millisecond).String()
	if n.ClockSkewed {
		text += ", more than a second off"
	}
	return text
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "node", Short: "List and drain the nodes of the cluster",
		Example: "  platform-scheduler node list\n  platform-scheduler node drain node-2 --wait",
	})
	list := &cobra.Command{
		Use: "list", Short: "List the nodes", Example: "  platform-scheduler node list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Whole(s, c, "/nodes", nil,
				remote.Column[node]{Name: "id", Of: func(n node) string { return n.ID }},
				remote.Column[node]{Name: "status", Of: func(n node) string { return n.Status }},
				remote.Column[node]{Name: "address", Of: node.address},
				remote.Column[node]{Name: "roles", Of: func(n node) string { return strings.Join(n.Roles, ",") }},
				remote.Column[node]{Name: "running", Of: func(n node) string { return fmt.Sprintf("%d/%d", n.Running, n.Slots) }},
				remote.Column[node]{Name: "commands", Of: node.commands},
				remote.Column[node]{Name: "partitions", Of: func(n node) string { return fmt.Sprint(len(n.Partitions)) }},
				remote.Column[node]{Name: "labels", Of: node.labels},
				remote.Column[node]{Name: "version", Of: func(n node) string { return n.Version }},
				remote.Column[node]{Name: "last beat", Of: func(n node) string { return s.Moment(n.LastHeartbeat) }},
			)
		},
	}
	c.AddCommand(list, getCommand(s), drainCommand(s), resumeCommand(s), handlersCommand(s))
	return []*cobra.Command{c, overviewCommand(s), metricsCommand(s), settingsCommand(s)}
}

func path(id string) string { return "/nodes/" + remote.Segment(id) }

// completeNodes offers the ids of nodes to the shell.
func completeNodes(s *remote.Session) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if api, err := s.Client(); err == nil && len(args) == 0 {
			var page struct{ Items []node }
			_ = api.Call(c.Context(), "GET", "/nodes", nil, nil, &page) // without an answer there is nothing to offer
			for _, n := range page.Items {
				ids = append(ids, n.ID)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

func getCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show a node", Example: "  platform-scheduler node get node-2",
		Args: usage.Args(cobra.ExactArgs(1)), ValidArgsFunction: completeNodes(s),
		RunE: func(c *cobra.Command, args []string) error {
			return remote.Get(s, c, path(args[0]), nil, func(n node) error {
				return s.Fields([]output.Field{
					{Name: "Id", Value: n.ID},
					{Name: "Status", Value: n.Status},
					{Name: "Address", Value: n.address()},
					{Name: "Epoch", Value: fmt.Sprint(n.Epoch)},
					{Name: "Roles", Value: strings.Join(n.Roles, ", ")},
					{Name: "Labels", Value: n.labels()},
					{Name: "Weight", Value: fmt.Sprint(n.Weight)},
					{Name: "Running", Value: fmt.Sprintf("%d/%d", n.Running, n.Slots)},
					{Name: "Commands", Value: n.commands()},
					{Name: "Handlers", Value: strings.Join(n.Capabilities.Handlers, ", ")},
					{Name: "Load", Value: n.load()},
					{Name: "Partitions", Value: fmt.Sprint(len(n.Partitions))},
					{Name: "Version", Value: n.Version},
					{Name: "Clock", Value: n.clock()},
					{Name: "Last beat", Value: s.Moment(n.LastHeartbeat)},
				})
			})
		},
	}
}

// drainPause is the time between two looks at a node that is drained.
const drainPause = time.Second

func drainCommand(s *remote.Session) *cobra.Command {
	var wait bool
	c := &cobra.Command{
		Use: "drain ID", Short: "Start no new runs on a node; its runs go on to their end",
		Args: usage.Args(cobra.ExactArgs(1)), ValidArgsFunction: completeNodes(s),
		Example: "  platform-scheduler node drain node-2\n  platform-scheduler node drain node-2 --wait && ssh node-2 " +
			"systemctl restart platform-scheduler",
		RunE: func(c *cobra.Command, args []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			if !wait {
				return remote.SendBy(s, c, api, "POST", path(args[0])+"/drain", nil, nil, func(n node) error {
					return s.Line("%s starts nothing new; %d runs go on there", n.ID, n.busy())
				})
			}
			if err := api.Call(c.Context(), "POST", path(args[0])+"/drain", nil, nil, nil); err != nil {
				return err
			}
			return awaitDrained(s, c, api, args[0])
		},
	}
	c.Flags().BoolVarP(&wait, "wait", "w", false, "wait until nothing runs there any more")
	return c
}

// awaitDrained waits until a node runs nothing. The registry tells how much it
// runs with its next beat: one look at nothing is not enough.
func awaitDrained(s *remote.Session, c *cobra.Command, api *client.Client, id string) error {
	pause := s.Clock.NewTimer(drainPause)
	defer pause.Stop()
	for nothing := 0; ; {
		var raw json.RawMessage
		if err := api.Call(c.Context(), "GET", path(id), nil, nil, &raw); err != nil {
			return err
		}
		var n node
		if err := json.Unmarshal(raw, &n); err != nil {
			return err
		}
		switch {
		case n.Status == "DOWN":
			return fmt.Errorf("%s is down", id)
		case n.Status != "DRAINING":
			return fmt.Errorf("%s is %s: another caller resumed it", id, n.Status)
		case n.busy() > 0:
			nothing = 0
		default:
			nothing++
		}
		if nothing > drainLooks {
			if !s.ForPeople() {
				return s.Raw(raw)
			}
			return s.Line("%s runs nothing any more", id)
		}
		pause.Reset(drainPause)
		select {
		case <-c.Context().Done():
			return c.Context().Err()
		case <-pause.C():
		}
	}
}

// drainLooks in a row must see nothing running. They last longer than a beat of a standalone
// server, which may not know of the drain before.
const drainLooks = 4

func resumeCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "resume ID", Short: "Let runs start on a node again", Example: "  platform-scheduler node resume node-2",
		Args: usage.Args(cobra.ExactArgs(1)), ValidArgsFunction: completeNodes(s),
		RunE: func(c *cobra.Command, args []string) error {
			return remote.Send(s, c, "POST", path(args[0])+"/resume", nil, nil, func(n node) error {
				return s.Line("%s starts runs again", n.ID)
			})
		},
	}
}

// handler is a handler that live nodes have.
type handler struct {
	Name    string   `json:"name"`
	BuiltIn bool     `json:"builtIn"`
	Nodes   []string `json:"nodes"`
}

// where says which nodes have it.
func (h handler) where() string {
	if h.BuiltIn {
		return "every node (built in)"
	}
	return strings.Join(h.Nodes, ", ")
}

func handlersCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "handlers", Short: "List the handlers that CUSTOM jobs may name, and the nodes that have them",
		Example: "  platform-scheduler node handlers", Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Whole(s, c, "/handlers", nil,
				remote.Column[handler]{Name: "name", Of: func(h handler) string { return h.Name }},
				remote.Column[handler]{Name: "nodes", Of: handler.where},
			)
		},
	}
}
