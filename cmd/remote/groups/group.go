// Package groups holds the commands for groups of jobs.
package groups

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// group is what the commands show of a group.
type group struct {
	Name           string  `json:"name"`
	MaxConcurrency int     `json:"maxConcurrency"`
	Paused         bool    `json:"paused"`
	Settled        bool    `json:"settled"`
	Version        int     `json:"version"`
	CreateTime     *string `json:"createTime"`
	UpdateTime     *string `json:"updateTime"`
	remote.PauseState
}

// limit is how many fires of its jobs run at once.
func (g group) limit() string {
	if g.MaxConcurrency == 0 {
		return "unlimited"
	}
	return fmt.Sprint(g.MaxConcurrency)
}

func (g group) state() string {
	switch {
	case g.Paused && g.Settled:
		return "paused"
	case g.Paused:
		return "pausing"
	case !g.Settled:
		return "resuming"
	}
	return "planned"
}

func (g group) show(s *remote.Session) error {
	return s.Fields([]output.Field{
		{Name: "Name", Value: g.Name},
		{Name: "Max concurrency", Value: g.limit()},
		{Name: "State", Value: g.state()},
		{Name: "Paused", Value: g.Words(s)},
		{Name: "Version", Value: fmt.Sprint(g.Version)},
		{Name: "Made", Value: s.Moment(g.CreateTime)},
		{Name: "Changed", Value: s.Moment(g.UpdateTime)},
	})
}

// Commands are the commands for groups.
func Commands(s *remote.Session) []*cobra.Command { return []*cobra.Command{command(s)} }

func command(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "group", Short: "Manage groups of jobs",
		Example: "  platform-scheduler group list\n  platform-scheduler group pause reports",
	})
	var pages remote.Pages
	list := &cobra.Command{
		Use: "list", Short: "List the groups", Example: "  platform-scheduler group list -o json",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.List(s, c, "/groups", nil, pages,
				remote.Column[group]{Name: "name", Of: func(g group) string { return g.Name }},
				remote.Column[group]{Name: "max concurrency", Of: group.limit},
				remote.Column[group]{Name: "state", Of: group.state},
			)
		},
	}
	pages.Flags(list, 0)
	c.AddCommand(list, get(s), create(s), update(s), pauseOrResume(s, "pause", "Stop planning every job of a group"),
		pauseOrResume(s, "resume", "Plan the jobs of a group again"), remove(s))
	return c
}

// onOne is a command for one group.
func onOne(s *remote.Session, name, short string, do func(c *cobra.Command, name string) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " GROUP", Short: short, Example: "  platform-scheduler group " + name + " reports",
		Args:              usage.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: s.CompleteGroups,
		RunE:              func(c *cobra.Command, args []string) error { return do(c, args[0]) },
	}
}

func get(s *remote.Session) *cobra.Command {
	return onOne(s, "get", "Show a group", func(c *cobra.Command, name string) error {
		return remote.Get(s, c, remote.GroupPath(name), nil, func(g group) error { return g.show(s) })
	})
}

func create(s *remote.Session) *cobra.Command {
	most := 0
	c := onOne(s, "create", "Make a group", func(c *cobra.Command, name string) error {
		return remote.Send(s, c, "POST", "/groups", nil, map[string]any{"name": name, "maxConcurrency": most},
			func(g group) error {
				return s.Line("created the group %s", g.Name)
			})
	})
	c.Flags().IntVar(&most, "max-concurrency", 0, "the largest number of fires of its jobs at once; 0 is unlimited")
	return c
}

func update(s *remote.Session) *cobra.Command {
	most := 0
	c := onOne(s, "update", "Change how many fires of a group's jobs run at once",
		func(c *cobra.Command, name string) error {
			if !c.Flags().Changed("max-concurrency") {
				return usage.Errorf("say what to change: --max-concurrency N, where 0 is unlimited")
			}
			api, err := s.Client()
			if err != nil {
				return err
			}
			g, err := read(c, api, name)
			if err != nil {
				return err
			}
			body := map[string]any{"maxConcurrency": most, "version": g.Version}
			return remote.SendBy(s, c, api, "PUT", remote.GroupPath(name), nil, body, func(g group) error {
				return s.Line("the group %s runs at most %s fires at once", g.Name, g.limit())
			})
		})
	c.Example = "  platform-scheduler group update reports --max-concurrency 4"
	c.Flags().IntVar(&most, "max-concurrency", 0, "the largest number of fires of its jobs at once; 0 is unlimited")
	return c
}

func read(c *cobra.Command, api *client.Client, name string) (g group, err error) {
	return g, api.Call(c.Context(), "GET", remote.GroupPath(name), nil, nil, &g)
}

func pauseOrResume(s *remote.Session, what, short string) *cobra.Command {
	var p remote.PauseFlags
	c := onOne(s, what, short, func(c *cobra.Command, name string) error {
		return remote.PauseOrResume(s, c, remote.GroupPath(name), what, "the group "+name, p)
	})
	if what == "pause" {
		p.Add(c, "this machine")
		c.Example += "\n  platform-scheduler group pause reports --reason \"the store moves\" --until 2026-11-16T06:00:00Z"
	}
	return c
}

func remove(s *remote.Session) *cobra.Command {
	var q terminal.Question
	c := onOne(s, "delete", "Delete a group that has no jobs", func(c *cobra.Command, name string) error {
		if err := q.Ask(s.Err, "Delete the group %s?", name); err != nil {
			return err
		}
		return remote.Send(s, c, "DELETE", remote.GroupPath(name), nil, nil, func(json.RawMessage) error {
			return s.Line("deleted the group %s", name)
		})
	})
	q.Flag(c)
	return c
}
