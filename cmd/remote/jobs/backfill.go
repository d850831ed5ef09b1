package jobs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// backfilled is what the API answers to a backfill, and to a dry run of one.
type backfilled struct {
	ID          string   `json:"id"`
	From        *string  `json:"from"`
	To          *string  `json:"to"`
	Total       int      `json:"total"`
	AlreadyRun  int      `json:"alreadyRun"`
	Started     int      `json:"started"`
	MaxParallel int      `json:"maxParallel"`
	Status      string   `json:"status"`
	User        string   `json:"user"`
	CreateTime  *string  `json:"createTime"`
	FireTimes   []string `json:"fireTimes"`
}

// backfill runs the planned times of a past range of a job.
func (n *naming) backfill() *cobra.Command {
	var span remote.Span
	var dryRun bool
	maxParallel := 1
	c := n.one("backfill", "Run the planned times of a past range, each once",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			from, to, err := span.Sent(n.Session, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			if from == "" || to == "" {
				return usage.Errorf("give the range with --from and --to")
			}
			body := map[string]any{"from": from, "to": to, "dryRun": dryRun, "maxParallel": maxParallel}
			return remote.SendBy(n.Session, c, api, "POST", "/jobs/"+j.ID+"/backfill", nil, body, func(b backfilled) error {
				for _, t := range b.FireTimes {
					if err := n.Line("%s", remote.In(n.Zone(j.Schedule.TimeZone), &t)); err != nil {
						return err
					}
				}
				if !dryRun {
					if err := n.Line("%s", b.ID); err != nil {
						return err
					}
				}
				n.Notef("%d planned times, of which %d have run already", b.Total, b.AlreadyRun)
				return nil
			})
		})
	begin := "  platform-scheduler job backfill \"settle orders\""
	c.Example = begin + " --from 2026-11-01 --to 2026-11-08 --dry-run\n" + begin + " --from 2026-11-01T00:00:00Z --to " +
		"2026-11-02T00:00:00Z --max-parallel 4"
	span.Flags(c, "the job")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would run, and run nothing")
	c.Flags().IntVar(&maxParallel, "max-parallel", 1, "how many of its runs may be active at once")
	return c
}

func (n *naming) backfills() *cobra.Command {
	var pages remote.Pages
	c := n.one("backfills", "List the backfills of a job, newest first",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			zone := n.Zone(j.Schedule.TimeZone)
			return remote.ListOf(n.Session, c, api, "/jobs/"+j.ID+"/backfills", nil, pages,
				remote.Column[backfilled]{Name: "id", Of: func(b backfilled) string { return b.ID }},
				remote.Column[backfilled]{Name: "from", Of: func(b backfilled) string { return remote.In(zone, b.From) }},
				remote.Column[backfilled]{Name: "to", Of: func(b backfilled) string { return remote.In(zone, b.To) }},
				remote.Column[backfilled]{Name: "status", Of: func(b backfilled) string { return b.Status }},
				remote.Column[backfilled]{Name: "started", Of: func(b backfilled) string {
					return fmt.Sprintf("%d/%d", b.Started, b.Total-b.AlreadyRun)
				}},
				remote.Column[backfilled]{Name: "at once", Of: func(b backfilled) string { return fmt.Sprint(b.MaxParallel) }},
				remote.Column[backfilled]{Name: "by", Of: func(b backfilled) string { return b.User }},
				remote.Column[backfilled]{Name: "made", Of: func(b backfilled) string { return n.Moment(b.CreateTime) }},
			)
		})
	pages.Flags(c, 50)
	return c
}

func (n *naming) cancelBackfill() *cobra.Command {
	c := n.one("cancel-backfill", "Stop a backfill; its runs that have started go on", nil)
	c.Use += " ID"
	c.Example = "  platform-scheduler job backfills \"settle orders\"\n  platform-scheduler job cancel-backfill " +
		"\"settle orders\" 0193…"
	c.Args = usage.Args(cobra.ExactArgs(2))
	c.RunE = func(c *cobra.Command, args []string) error {
		return n.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			path := "/jobs/" + j.ID + "/backfills/" + remote.Segment(args[1]) + "/cancel"
			return remote.SendBy(n.Session, c, api, "POST", path, nil, nil, func(b backfilled) error {
				return n.Line("%s is %s; %d of its %d runs have started", b.ID, b.Status, b.Started, b.Total-b.AlreadyRun)
			})
		})
	}
	return c
}
