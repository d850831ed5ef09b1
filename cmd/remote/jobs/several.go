package jobs

import (
	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// several is an action on jobs that are named one by one.
type several struct {
	// what is the last segment of the action's path.
	what string
	body map[string]any
	// ask is asked before it is done, with the number of jobs; nil asks nothing.
	ask func(jobs int) error
}

// all finds the jobs and does it to each, in as few calls as the API takes.
func (n *naming) all(c *cobra.Command, names []string, do several) error {
	api, err := n.Client()
	if err != nil {
		return err
	}
	b := remote.Bulk{Path: "/bulk/jobs/" + do.what, Body: do.body, Titles: map[string]string{}}
	for _, name := range names {
		j, err := n.FindJob(c, api, name, n.group)
		if err != nil {
			return err
		}
		if b.Titles[j.ID] == "" {
			b.Titles[j.ID] = j.Title()
			b.IDs = append(b.IDs, j.ID)
		}
	}
	if do.ask != nil {
		if err := do.ask(len(b.IDs)); err != nil {
			return err
		}
	}
	return b.Do(n.Session, c, api)
}

// orSeveral lets a command for one job take several, which are treated in one
// action.
func (n *naming) orSeveral(c *cobra.Command, do func(c *cobra.Command) (several, error)) {
	one := c.RunE
	c.Use += "…"
	c.Args = usage.Args(cobra.MinimumNArgs(1))
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return n.CompleteJobs(c, nil, typed)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) < 2 {
			return one(c, args)
		}
		what, err := do(c)
		if err != nil {
			return err
		}
		return n.all(c, args, what)
	}
}

func (n *naming) copy() *cobra.Command {
	var name, group string
	c := n.one("copy", "Copy a job, without a plan of its own until it is resumed",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			body := map[string]string{}
			if name != "" {
				body["name"] = name
			}
			if group != "" {
				body["group"] = group
			}
			return remote.SendBy(n.Session, c, api, "POST", "/jobs/"+j.ID+"/copy", nil, body, func(made saved) error {
				n.warn(made)
				return n.Line("made %s, which fires after job resume", made.Title())
			})
		})
	c.Example = "  platform-scheduler job copy \"settle orders\" --name \"settle orders of test\" --to-group test"
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the copy; by default that of the job with a number")
	c.Flags().StringVar(&group, "to-group", "", "the `GROUP` of the copy; by default that of the job")
	return c
}
