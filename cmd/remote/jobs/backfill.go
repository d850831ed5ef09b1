package jobs

import (
	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// backfilled is what the API answers to a backfill, and to a dry run of one.
type backfilled struct {
	ID         string   `json:"id"`
	Total      int      `json:"total"`
	AlreadyRun int      `json:"alreadyRun"`
	FireTimes  []string `json:"fireTimes"`
}

// backfill runs the planned times of a past range of a job.
func (n *naming) backfill() *cobra.Command {
	var span remote.Span
	var dryRun bool
	maxParallel := 1
	c := n.one("backfill", "Run the planned times of a past range, each once", func(c *cobra.Command, api *client.Client, j remote.Job) error {
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
	c.Example = begin + " --from 2026-11-01 --to 2026-11-08 --dry-run\n" + begin + " --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z --max-parallel 4"
	span.Flags(c, "the job")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what would run, and run nothing")
	c.Flags().IntVar(&maxParallel, "max-parallel", 1, "how many of its runs may be live at once")
	return c
}
