package nodes

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// overview is the state of everything at a glance.
type overview struct {
	Time *string `json:"time"`
	Jobs struct {
		Created, Enabled, Paused, Finished int
	} `json:"jobs"`
	Executions struct {
		Waiting        int
		WaitingAtLeast bool
		Running        int
		RunningAtLeast bool
		LastHour       struct {
			Success, Failed, Timeout, Cancelled, Skipped, Dead int
			AtLeast                                            bool
		}
	} `json:"executions"`
	DeadLetters        int  `json:"deadLetters"`
	DeadLettersAtLeast bool `json:"deadLettersAtLeast"`
	Nodes              struct {
		Up, Suspect, Down, Draining int
	} `json:"nodes"`
	Leader        *string `json:"leader"`
	DegradedParts []struct {
		Part   string
		Reason string
		Since  *string
	} `json:"degradedParts"`
	LatenessMs struct {
		P50 *float64
		P99 *float64
	} `json:"latenessMs"`
}

func overviewCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "overview", Short: "Show the state of everything at a glance",
		Example: "  platform-scheduler overview\n  platform-scheduler overview -o json", Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Get(s, c, "/monitor/overview", nil, func(o overview) error { return o.show(s) })
		},
	}
}

// atLeast is a count that may have hit its bound.
func atLeast(n int, more bool) string {
	if more {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

func (o overview) show(s *remote.Session) error {
	hour := o.Executions.LastHour
	lateness := ""
	if o.LatenessMs.P50 != nil && o.LatenessMs.P99 != nil {
		lateness = fmt.Sprintf("p50 %g ms, p99 %g ms on the node that answered", *o.LatenessMs.P50, *o.LatenessMs.P99)
	}
	leader := "nobody"
	if o.Leader != nil {
		leader = *o.Leader
	}
	lastHour := fmt.Sprintf("%d succeeded, %d failed, %d timed out, %d cancelled, %d skipped, %d dead", hour.Success,
		hour.Failed, hour.Timeout, hour.Cancelled, hour.Skipped, hour.Dead)
	if hour.AtLeast {
		lastHour += ", or more"
	}
	err := s.Fields([]output.Field{
		{Name: "Time", Value: s.Moment(o.Time)},
		{Name: "Nodes", Value: fmt.Sprintf("%d up, %d suspect, %d down, %d draining", o.Nodes.Up, o.Nodes.Suspect,
			o.Nodes.Down, o.Nodes.Draining)},
		{Name: "Leader", Value: leader},
		{Name: "Jobs", Value: fmt.Sprintf("%d enabled, %d paused, %d created, %d finished", o.Jobs.Enabled, o.Jobs.Paused,
			o.Jobs.Created, o.Jobs.Finished)},
		{Name: "Running", Value: atLeast(o.Executions.Running, o.Executions.RunningAtLeast)},
		{Name: "Waiting", Value: atLeast(o.Executions.Waiting, o.Executions.WaitingAtLeast)},
		{Name: "Last hour", Value: lastHour},
		{Name: "Dead letters", Value: atLeast(o.DeadLetters, o.DeadLettersAtLeast)},
		{Name: "Lateness", Value: lateness},
	})
	if err != nil || len(o.DegradedParts) == 0 {
		return err
	}
	if err := s.Line("\nNot as it should be:"); err != nil {
		return err
	}
	var rows [][]string
	for _, d := range o.DegradedParts {
		rows = append(rows, []string{d.Part, s.Moment(d.Since), d.Reason})
	}
	return s.Rows([]string{"PART", "SINCE", "REASON"}, rows)
}
