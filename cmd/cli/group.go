package cli

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// groupView is what the commands show of a group.
type groupView struct {
	Name           string `json:"name"`
	MaxConcurrency int    `json:"maxConcurrency"`
	Paused         bool   `json:"paused"`
	Settled        bool   `json:"settled"`
}

func (r *remote) groupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "group", Short: "Manage groups of jobs", Example: "  platform-scheduler group list\n  platform-scheduler group pause reports", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	on := func(name, short string, do func(c *cobra.Command, group string) error) *cobra.Command {
		return &cobra.Command{
			Use: name + " GROUP", Short: short, Example: "  platform-scheduler group " + name + " reports", Args: usageArgs(cobra.ExactArgs(1)),
			ValidArgsFunction: r.completeGroups,
			RunE:              func(c *cobra.Command, args []string) error { return do(c, args[0]) },
		}
	}
	var maxConcurrency int
	create := on("create", "Make a group", func(c *cobra.Command, group string) error {
		return r.send(c, "POST", "/groups", map[string]any{"name": group, "maxConcurrency": maxConcurrency})
	})
	create.Flags().IntVar(&maxConcurrency, "max-concurrency", 0, "at most so many runs of its jobs at once; 0 is unlimited")
	c.AddCommand(r.groupList(), create,
		on("get", "Show a group", func(c *cobra.Command, group string) error { return r.send(c, "GET", groupPath(group), nil) }),
		on("pause", "Stop planning every job of a group", func(c *cobra.Command, group string) error {
			return r.hold(c, groupPath(group), "pause", "the group "+group)
		}),
		on("resume", "Plan the jobs of a group again", func(c *cobra.Command, group string) error {
			return r.hold(c, groupPath(group), "resume", "the group "+group)
		}),
		on("delete", "Delete a group that has no jobs", func(c *cobra.Command, group string) error {
			return r.send(c, "DELETE", groupPath(group), nil)
		}))
	return c
}

func groupPath(group string) string { return "/groups/" + url.PathEscape(group) }

// hold pauses or resumes a group, or every job.
func (r *remote) hold(c *cobra.Command, path, what, whom string) error {
	api, err := r.client()
	if err != nil {
		return err
	}
	var g groupView
	if err := api.Call(c.Context(), "POST", path+"/"+what, nil, nil, &g); err != nil {
		return err
	}
	rest := ""
	if !g.Settled {
		rest = "; its last jobs follow shortly"
	}
	_, err = fmt.Fprintf(r.out, "%sd %s%s\n", what, whom, rest)
	return err
}

func (r *remote) groupList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the groups", Example: "  platform-scheduler group list --output json", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := r.client()
			if err != nil {
				return err
			}
			groups, err := client.List[groupView](c.Context(), api, "/groups", nil, 0)
			if err != nil {
				return err
			}
			return show(r, groups, "NAME\tMAX CONCURRENCY\tPAUSED", func(g groupView) []any { return []any{g.Name, g.MaxConcurrency, g.Paused} }, "%s\t%d\t%v")
		},
	}
}
