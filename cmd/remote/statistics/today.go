package statistics

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// dayFigures are what a part of a day comes to.
type dayFigures struct {
	Runs, Failures float64
	P95Ms          *int64
}

func (f dayFigures) row(name string) []string {
	p95 := ""
	if f.P95Ms != nil {
		p95 = remote.Took(f.P95Ms)
	}
	return []string{name, fmt.Sprintf("%g", f.Runs), fmt.Sprintf("%g", f.Failures), p95}
}

func todayCommand(s *remote.Session) *cobra.Command {
	var group, zone string
	c := &cobra.Command{
		Use: "today", Short: "Compare today with the same hours of the days before",
		Example: "  platform-scheduler today\n  platform-scheduler today --group billing", Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			type today struct {
				Today dayFigures
				Usual *dayFigures
				Days  int
			}
			return remote.Get(s, c, "/monitor/today", remote.Query("group", group, "timeZone", zone), func(t today) error {
				rows := [][]string{t.Today.row("today")}
				if t.Usual != nil {
					rows = append(rows, t.Usual.row(fmt.Sprintf("median of %d days", t.Days)))
				}
				return s.Rows([]string{"", "RUNS", "FAILURES", "P95"}, rows)
			})
		},
	}
	c.Flags().StringVar(&group, "group", "", "the jobs of this group")
	c.Flags().StringVar(&zone, "zone", "", "the IANA `ZONE` of days; that of the server by default")
	return c
}

func failuresCommand(s *remote.Session) *cobra.Command {
	var span remote.Span
	c := &cobra.Command{
		Use: "failures", Short: "Count the newest failures by cause, of the last day by default",
		Example: "  platform-scheduler failures\n  platform-scheduler failures --from 2026-11-22 -o json",
		Args:    usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			from, to, err := span.Sent(s, "")
			if err != nil {
				return err
			}
			type found struct {
				Complete bool
				Items    []struct {
					Reason          *string
					Count, JobCount int
					LastExecutionID string
					LastTime        *string
					Message         *string
				}
			}
			return remote.Get(s, c, "/monitor/failures", remote.Query("from", from, "to", to), func(f found) error {
				var rows [][]string
				for _, i := range f.Items {
					rows = append(rows, []string{
						text(i.Reason), fmt.Sprint(i.Count), fmt.Sprint(i.JobCount), s.Moment(i.LastTime), i.LastExecutionID,
						text(i.Message),
					})
				}
				err := s.Rows([]string{"REASON", "COUNT", "JOBS", "LAST", "EXECUTION", "MESSAGE"}, rows)
				if err != nil || f.Complete {
					return err
				}
				return s.Line("There are more failures: ask for a shorter span.")
			})
		},
	}
	span.Flags(c, "this machine")
	return c
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
