// Package jobs holds the commands for jobs.
package jobs

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/documents"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return []*cobra.Command{jobCommand(s)}
}

// naming makes commands for one job, which is named by its id or its name.
type naming struct {
	*remote.Session
	group string
}

// one is a command for one job.
func (n *naming) one(name, short string,
	do func(c *cobra.Command, api *client.Client, j remote.Job) error,
) *cobra.Command {
	return &cobra.Command{
		Use: name + " JOB", Short: short, Example: "  platform-scheduler job " + name + " \"settle orders\"",
		Args:              usage.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: n.CompleteJobs,
		RunE: func(c *cobra.Command, args []string) error {
			return n.named(c, args[0], do)
		},
	}
}

// named finds a job and does something with it.
func (n *naming) named(c *cobra.Command, name string,
	do func(c *cobra.Command, api *client.Client, j remote.Job) error,
) error {
	api, err := n.Client()
	if err != nil {
		return err
	}
	j, err := n.FindJob(c, api, name, n.group)
	if err != nil {
		return err
	}
	return do(c, api, j)
}

func jobCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "job", Short: "Manage jobs",
		Example: "  platform-scheduler job list\n  platform-scheduler job trigger \"settle orders\" --wait",
		Long: "Manage jobs. A job is named by its id, by its name (with --group where several\ngroups have one of that " +
			"name), or as group/name.",
	})
	n := &naming{Session: s}
	c.PersistentFlags().StringVar(&n.group, "group", "", "the group of the job")
	// It fails only for flags that are not there.
	_ = c.RegisterFlagCompletionFunc("group",
		func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return s.CompleteGroups(c, nil, typed)
		})
	c.AddCommand(n.list(), n.get(), documents.ApplyCommand(s), documents.ExportCommand(s, &n.group), n.trigger(),
		n.pause(), n.resume(), n.copy(), n.remove(),
		n.fires(), n.why(), n.versions(), n.diff(), n.rollback(), n.backfill(), n.backfills(), n.cancelBackfill())
	return c
}

// listed is what job list shows of a job.
type listed struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Group        string  `json:"group"`
	JobType      string  `json:"jobType"`
	Status       string  `json:"status"`
	Unreadable   string  `json:"unreadable"`
	NextFireTime *string `json:"nextFireTime"`
	LastFireTime *string `json:"lastFireTime"`
	Schedule     struct {
		TimeZone string `json:"timeZone"`
	} `json:"schedule"`
}

// state is the state of a job, and whether the store holds it whole.
func (j listed) state() string {
	if j.Unreadable != "" {
		return j.Status + ", unreadable"
	}
	return j.Status
}

func (n *naming) list() *cobra.Command {
	var status, name, kind string
	var pages remote.Pages
	c := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Example: "  platform-scheduler job list --status PAUSED -o json",
		Args: usage.Args(cobra.NoArgs),
		Long: "List jobs, newest first. The next fire is in the zone of the job, or in UTC with\n--utc.",
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.List(n.Session, c, "/jobs", remote.Query("group", n.group, "status", status, "name", name, "jobType",
				kind), pages,
				remote.Column[listed]{Name: "id", Of: func(j listed) string { return j.ID }},
				remote.Column[listed]{Name: "name", Of: func(j listed) string { return j.Name }},
				remote.Column[listed]{Name: "group", Of: func(j listed) string { return j.Group }},
				remote.Column[listed]{Name: "type", Of: func(j listed) string { return j.JobType }},
				remote.Column[listed]{Name: "status", Of: listed.state},
				remote.Column[listed]{Name: "next fire", Of: func(j listed) string {
					return remote.In(n.Zone(j.Schedule.TimeZone), j.NextFireTime)
				}},
				remote.Column[listed]{Name: "last fire", Of: func(j listed) string { return n.Moment(j.LastFireTime) }},
			)
		},
	}
	c.Flags().StringVar(&status, "status", "", "CREATED, ENABLED, PAUSED or FINISHED")
	c.Flags().StringVar(&name, "name", "", "only names that contain this")
	c.Flags().StringVar(&kind, "type", "", "HTTP, COMMAND or CUSTOM")
	pages.Flags(c, 100)
	return c
}

func (n *naming) remove() *cobra.Command {
	var q terminal.Question
	c := n.one("delete", "Delete jobs; their runs stay until retention removes them",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			if err := q.Ask(n.Err, "Delete the job %s?", j.Title()); err != nil {
				return err
			}
			return remote.SendBy(n.Session, c, api, "DELETE", "/jobs/"+j.ID, nil, nil, func(json.RawMessage) error {
				return n.Line("deleted %s", j.Title())
			})
		})
	n.orSeveral(c, func(*cobra.Command) (several, error) {
		return several{what: "delete", ask: func(jobs int) error { return q.Ask(n.Err, "Delete %d jobs?", jobs) }}, nil
	})
	q.Flag(c)
	return c
}
