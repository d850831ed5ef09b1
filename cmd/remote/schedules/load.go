package schedules

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// load is the planned fires by minute.
type load struct {
	Items    []loadMinute `json:"items"`
	Peak     loadMinute   `json:"peak"`
	Jobs     int          `json:"jobs"`
	Complete bool         `json:"complete"`
}

type loadMinute struct {
	Time  *string `json:"time"`
	Fires int     `json:"fires"`
}

// loadBar is the length of the bar of the fullest minute.
const loadBar = 40

func loadCommand(s *remote.Session) *cobra.Command {
	var from, group string
	minutes := 0
	c := &cobra.Command{
		Use: "load", Short: "Show how many fires are planned in each minute", Args: usage.Args(cobra.NoArgs),
		Long: "Show how many fires of all enabled jobs are planned in each minute to come. Minutes\nwithout any are " +
			"left out.",
		Example: "  platform-scheduler schedule load --minutes 60\n  platform-scheduler schedule load --group reports " +
			"--from \"2026-11-16 02:00\" --minutes 180",
		RunE: func(c *cobra.Command, _ []string) error {
			first, err := s.Time(remote.Input{Flag: "--from", Text: from}, "")
			if err != nil {
				return err
			}
			query := remote.Query("from", remote.Sent(first), "group", group)
			if minutes != 0 {
				query.Set("minutes", fmt.Sprint(minutes))
			}
			return remote.Get(s, c, "/schedules/load", query, func(l load) error { return l.show(s) })
		},
	}
	c.Flags().StringVar(&from, "from", "", "begin at this `TIME`; by default with the current minute")
	c.Flags().StringVar(&group, "group", "", "only the jobs of this group")
	c.Flags().IntVar(&minutes, "minutes", 0, "how many minutes, at most 10080; by default a day")
	return c
}

func (l load) show(s *remote.Session) error {
	var rows [][]string
	for _, m := range l.Items {
		if m.Fires > 0 {
			rows = append(rows, []string{
				s.Moment(m.Time), fmt.Sprint(m.Fires),
				strings.Repeat("#", max(1, m.Fires*loadBar/l.Peak.Fires)),
			})
		}
	}
	if err := s.Rows([]string{"MINUTE", "FIRES", ""}, rows); err != nil {
		return err
	}
	s.Notef("%d jobs; the fullest minute is %s with %d fires", l.Jobs, s.Moment(l.Peak.Time), l.Peak.Fires)
	if !l.Complete {
		s.Notef("there was too much to count: fires are missing")
	}
	return nil
}
