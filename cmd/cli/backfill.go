package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// backfillBody is what the API takes of a backfill.
type backfillBody struct {
	From        string `json:"from"`
	To          string `json:"to"`
	DryRun      bool   `json:"dryRun,omitempty"`
	MaxParallel int    `json:"maxParallel,omitempty"`
}

// backfill runs the planned times of a past range of a job.
func (b *backfillBody) run(r *remote) func(c *cobra.Command, api *client.Client, j job) error {
	return func(c *cobra.Command, api *client.Client, j job) error {
		var made struct {
			ID                string
			Total, AlreadyRun int
			FireTimes         []string
		}
		if err := api.Call(c.Context(), "POST", "/jobs/"+j.ID+"/backfill", nil, b, &made); err != nil {
			return err
		}
		for _, t := range made.FireTimes {
			_, _ = fmt.Fprintln(r.out, t)
		}
		if !b.DryRun {
			_, _ = fmt.Fprintln(r.out, made.ID)
		}
		_, err := fmt.Fprintf(c.ErrOrStderr(), "%d planned times, of which %d have run already\n", made.Total, made.AlreadyRun)
		return err
	}
}

func (b *backfillBody) flags(c *cobra.Command) *cobra.Command {
	c.Example = "  platform-scheduler job backfill \"settle orders\" --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z --dry-run"
	c.Flags().StringVar(&b.From, "from", "", "first moment, as `TIME` such as 2026-11-01T00:00:00Z")
	c.Flags().StringVar(&b.To, "to", "", "end, exclusive, as `TIME`")
	c.Flags().BoolVar(&b.DryRun, "dry-run", false, "say what would run, and run nothing")
	c.Flags().IntVar(&b.MaxParallel, "max-parallel", 1, "how many of its runs may be live at once")
	return c
}
