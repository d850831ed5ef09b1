// Package statistics holds the command that shows what ends of executions add up to.
package statistics

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

type quantiles struct {
	P50Ms, P95Ms, P99Ms *int64
}

func (q quantiles) text() string {
	if q.P50Ms == nil {
		return ""
	}
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s", remote.Took(q.P50Ms), remote.Took(q.P95Ms), remote.Took(q.P99Ms))
}

type figures struct {
	Runs, Success, Failed, Timeout, Cancelled, Dead, Skipped, Retries, LateRuns int64
	SuccessRate                                                                 *float64
	Duration, Lateness                                                          quantiles
}

func (f figures) rate() string {
	if f.SuccessRate == nil {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*(*f.SuccessRate))
}

// statistics is what the API answers.
type statistics struct {
	AsOf, From, To *string
	TimeZone       string
	Rounded        bool
	Total          figures
	Items          []struct {
		Start *string
		figures
	}
	Top []struct {
		JobID                                      string
		Name, Group                                *string
		Runs, Failures, Skipped, Retries, LateRuns int64
		DurationMs                                 int64
	}
}

// asked are the flags.
type asked struct {
	group, node, by, zone, topBy string
	top                          int
	span                         remote.Span
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	var a asked
	c := &cobra.Command{
		Use: "stats [JOB]", Short: "Show runs, success rate, durations and lateness of a job, a group, a node or all",
		Long: "Show what ends of executions add up to: of a job, with --group of the jobs of a group,\nwith --node of what " +
			"ended on a node, else of all that you see. Hours are kept for three\ndays, days for 400.",
		Example: "  platform-scheduler stats \"settle orders\" --from 2026-11-01 --by day\n" +
			"  platform-scheduler stats --top 10 --top-by failures",
		Args: usage.Args(cobra.MaximumNArgs(1)), ValidArgsFunction: s.CompleteJobs,
		RunE: func(c *cobra.Command, args []string) error { return a.run(s, c, args) },
	}
	a.span.Flags(c, "this machine")
	c.Flags().StringVar(&a.group, "group", "", "the jobs of this group, or the group of JOB")
	c.Flags().StringVar(&a.node, "node", "", "what ended on this node")
	c.Flags().StringVar(&a.by, "by", "", "a line for each `hour` or day")
	c.Flags().StringVar(&a.zone, "zone", "", "the IANA `ZONE` of days; that of the server by default")
	c.Flags().IntVar(&a.top, "top", 0, "so many of the jobs with the most of --top-by, at most 100")
	c.Flags().StringVar(&a.topBy, "top-by", "", "failures, runs, duration, late, skipped or retries; failures by default")
	return []*cobra.Command{c, todayCommand(s), failuresCommand(s)}
}

func (a *asked) run(s *remote.Session, c *cobra.Command, args []string) error {
	from, to, err := a.span.Sent(s, "")
	if err != nil {
		return err
	}
	query := remote.Query("node", a.node, "from", from, "to", to, "by", upper(a.by), "timeZone", a.zone, "topBy", a.topBy)
	if a.top != 0 {
		query.Set("top", fmt.Sprint(a.top))
	}
	switch {
	case len(args) == 1:
		api, err := s.Client()
		if err != nil {
			return err
		}
		job, err := s.FindJob(c, api, args[0], a.group)
		if err != nil {
			return err
		}
		query.Set("job", job.ID)
	case a.group != "":
		query.Set("group", a.group)
	}
	return remote.Get(s, c, "/monitor/statistics", query, func(found statistics) error { return found.show(s) })
}

// upper is hour or day as the API names them.
func upper(by string) string {
	switch by {
	case "hour":
		return "HOUR"
	case "day":
		return "DAY"
	}
	return by
}

func (f statistics) show(s *remote.Session) error {
	t := f.Total
	err := s.Fields([]output.Field{
		{Name: "From", Value: s.Moment(f.From)},
		{Name: "To", Value: s.Moment(f.To)},
		{Name: "Counted until", Value: s.Moment(f.AsOf)},
		{Name: "Runs", Value: fmt.Sprintf("%d: %d succeeded, %d failed, %d timed out, %d cancelled, %d dead", t.Runs,
			t.Success, t.Failed, t.Timeout, t.Cancelled, t.Dead)},
		{Name: "Success rate", Value: t.rate()},
		{Name: "Skipped fires", Value: fmt.Sprint(t.Skipped)},
		{Name: "Retries", Value: fmt.Sprint(t.Retries)},
		{Name: "Duration", Value: t.Duration.text()},
		{Name: "Lateness", Value: t.Lateness.text()},
		{Name: "Late runs", Value: fmt.Sprint(t.LateRuns)},
	})
	if err != nil {
		return err
	}
	if len(f.Items) > 0 {
		var rows [][]string
		for _, line := range f.Items {
			rows = append(rows, []string{
				remote.In(s.Zone(f.TimeZone), line.Start), fmt.Sprint(line.Runs), line.rate(), fmt.Sprint(line.Skipped),
				remote.Took(line.Duration.P50Ms), remote.Took(line.Duration.P95Ms), remote.Took(line.Lateness.P95Ms),
			})
		}
		if err := s.Line(""); err != nil {
			return err
		}
		if err := s.Rows([]string{"START", "RUNS", "SUCCESS", "SKIPPED", "P50", "P95", "LATE P95"}, rows); err != nil {
			return err
		}
	}
	if f.Rounded {
		s.Notef("days of %s do not begin with an hour of UTC; they are rounded to it", f.TimeZone)
	}
	return f.showTop(s)
}

func (f statistics) showTop(s *remote.Session) error {
	if len(f.Top) == 0 {
		return nil
	}
	var rows [][]string
	for _, t := range f.Top {
		name := t.JobID
		if t.Name != nil && t.Group != nil {
			name = *t.Group + "/" + *t.Name
		}
		rows = append(rows, []string{
			name, fmt.Sprint(t.Runs), fmt.Sprint(t.Failures), fmt.Sprint(t.Skipped), fmt.Sprint(t.Retries),
			remote.Took(&t.DurationMs), fmt.Sprint(t.LateRuns),
		})
	}
	if err := s.Line(""); err != nil {
		return err
	}
	return s.Rows([]string{"JOB", "RUNS", "FAILURES", "SKIPPED", "RETRIES", "DURATION", "LATE"}, rows)
}
