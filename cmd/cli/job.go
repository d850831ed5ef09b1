package cli

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

func (r *remote) jobCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "job", Short: "Manage jobs", Example: "  platform-scheduler job list\n  platform-scheduler job trigger \"settle orders\"", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var group string
	c.PersistentFlags().StringVar(&group, "group", "", "the group of the job")
	// It fails only for flags that are not there.
	_ = c.RegisterFlagCompletionFunc("group", func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return r.completeGroups(c, nil, typed)
	})
	// on makes a command for one job.
	on := func(name, short string, do func(c *cobra.Command, api *client.Client, j job) error) *cobra.Command {
		return &cobra.Command{
			Use: name + " JOB", Short: short, Example: "  platform-scheduler job " + name + " \"settle orders\"", Args: usageArgs(cobra.ExactArgs(1)),
			ValidArgsFunction: r.completeJobs,
			RunE: func(c *cobra.Command, args []string) error {
				api, err := r.client()
				if err != nil {
					return err
				}
				j, err := r.findJob(c, api, args[0], group)
				if err != nil {
					return err
				}
				return do(c, api, j)
			},
		}
	}
	post := func(what, done string) func(c *cobra.Command, api *client.Client, j job) error {
		return func(c *cobra.Command, api *client.Client, j job) error {
			if err := api.Call(c.Context(), "POST", "/jobs/"+j.ID+"/"+what, nil, nil, nil); err != nil {
				return err
			}
			_, err := fmt.Fprintf(r.out, "%s %s\n", done, j.Name)
			return err
		}
	}
	var params string
	trigger := on("trigger", "Run a job now", func(c *cobra.Command, api *client.Client, j job) error {
		body := map[string]any{}
		if params != "" {
			if !json.Valid([]byte(params)) {
				return fmt.Errorf("%w: --params is a JSON object", errUsage)
			}
			body["params"] = json.RawMessage(params)
		}
		var made struct{ ExecutionIDs []string }
		if err := api.Call(c.Context(), "POST", "/jobs/"+j.ID+"/trigger", nil, body, &made); err != nil {
			return err
		}
		for _, id := range made.ExecutionIDs {
			_, _ = fmt.Fprintln(r.out, id)
		}
		return nil
	})
	trigger.Flags().StringVar(&params, "params", "", "parameters of the run, a JSON `OBJECT`")
	past := &backfillBody{}
	c.AddCommand(r.jobList(&group), trigger, r.applyCommand(),
		on("get", "Show a job", func(c *cobra.Command, _ *client.Client, j job) error { return r.send(c, "GET", "/jobs/"+j.ID, nil) }),
		r.many(on("pause", "Stop planning a job, the jobs of a group, or all", post("pause", "paused")), &group),
		r.many(on("resume", "Plan a job, the jobs of a group, or all again", post("resume", "resumed")), &group),
		on("delete", "Delete a job", func(c *cobra.Command, api *client.Client, j job) error {
			return api.Call(c.Context(), "DELETE", "/jobs/"+j.ID, nil, nil, nil)
		}),
		past.flags(on("backfill", "Run the planned times of a past range, each once", past.run(r))),
		r.exportCommand(&group))
	return c
}

// many makes a command for one job also one for a group, named by --group and
// no job, and one for all.
func (r *remote) many(c *cobra.Command, group *string) *cobra.Command {
	var all bool
	c.Flags().BoolVar(&all, "all", false, "every job there is")
	what, one := c.Name(), c.RunE
	c.Use = what + " [JOB]"
	c.Example += "\n  platform-scheduler job " + what + " --group reports\n  platform-scheduler job " + what + " --all"
	c.Args = usageArgs(cobra.MaximumNArgs(1))
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case all && (len(args) > 0 || *group != ""):
			return fmt.Errorf("%w: --all goes without a job and without --group", errUsage)
		case all:
			return r.hold(c, "/jobs", what, "all jobs")
		case len(args) == 1:
			return one(c, args)
		case *group != "":
			return r.hold(c, groupPath(*group), what, "the group "+*group)
		}
		return fmt.Errorf("%w: name a job, or a group with --group, or --all", errUsage)
	}
	return c
}

func (r *remote) jobList(group *string) *cobra.Command {
	var status, name string
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Example: "  platform-scheduler job list --status PAUSED --output json", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := r.client()
			if err != nil {
				return err
			}
			query := url.Values{}
			for key, value := range map[string]string{"group": *group, "status": status, "name": name} {
				if value != "" {
					query.Set(key, value)
				}
			}
			jobs, err := client.List[job](c.Context(), api, "/jobs", query, limit)
			if err != nil {
				return err
			}
			return show(r, jobs, "ID\tNAME\tGROUP\tTYPE\tSTATUS\tNEXT FIRE", func(j job) []any {
				return []any{j.ID, j.Name, j.Group, j.JobType, j.Status, deref(j.NextFireTime)}
			}, "%s\t%s\t%s\t%s\t%s\t%s")
		},
	}
	list.Flags().StringVar(&status, "status", "", "CREATED, ENABLED, PAUSED or FINISHED")
	list.Flags().StringVar(&name, "name", "", "only names that contain this")
	list.Flags().IntVar(&limit, "limit", 100, "at most so many; 0 for all")
	return list
}
