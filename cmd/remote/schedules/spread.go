package schedules

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// spread is what a jitter does to the jobs of a minute.
type spread struct {
	Before, After []loadMinute
	Jobs          []struct {
		ID, Name, Group string
		Fires           int
	}
	More, Complete bool
	Kept           int
	Result         *struct {
		Succeeded, Failed int
		Items             []struct {
			ID      string
			OK      bool
			Message string
		}
	}
}

func spreadCommand(s *remote.Session) *cobra.Command {
	var group string
	var jitter time.Duration
	dryRun := false
	c := &cobra.Command{
		Use: "spread MINUTE", Short: "Give the jobs that fire in a minute a jitter, so that they spread",
		Args: usage.Args(cobra.ExactArgs(1)),
		Long: "Give each enabled job that fires in a minute a jitter. Jobs with as much keep theirs, and\nso do " +
			"those whose " +
			"interval is not longer. One call treats 500 jobs.",
		Example: "  platform-scheduler schedule spread \"2026-11-16 02:00\" --jitter 10m --dry-run\n" +
			"  platform-scheduler schedule spread \"2026-11-16 02:00\" --jitter 10m --group reports",
		RunE: func(c *cobra.Command, args []string) error {
			minute, err := s.Time(remote.Input{Flag: "MINUTE", Text: args[0]}, "")
			if err != nil {
				return err
			}
			body := map[string]any{"minute": remote.Sent(minute), "jitterMs": jitter.Milliseconds(), "dryRun": dryRun}
			if group != "" {
				body["group"] = group
			}
			return remote.Send(s, c, "POST", "/schedules/spread", nil, body, func(v spread) error { return v.show(s) })
		},
	}
	c.Flags().DurationVar(&jitter, "jitter", 5*time.Minute, "the greatest delay, as a `TIME` such as 10m")
	c.Flags().StringVar(&group, "group", "", "only the jobs of this group")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	return c
}

func (v spread) show(s *remote.Session) error {
	var rows [][]string
	for i, m := range v.Before {
		rows = append(rows, []string{s.Moment(m.Time), fmt.Sprint(m.Fires), fmt.Sprint(v.After[i].Fires)})
	}
	if err := s.Rows([]string{"MINUTE", "BEFORE", "AFTER"}, rows); err != nil {
		return err
	}
	s.Notef("%d jobs get the jitter, %d keep what they have", len(v.Jobs), v.Kept)
	if v.More {
		s.Notef("there are more jobs: call again")
	}
	if !v.Complete {
		s.Notef("there was too much to count: fires are missing")
	}
	if v.Result == nil {
		return nil
	}
	s.Notef("%d done, %d not", v.Result.Succeeded, v.Result.Failed)
	for _, item := range v.Result.Items {
		if !item.OK {
			s.Notef("%s: %s", item.ID, item.Message)
		}
	}
	return nil
}
