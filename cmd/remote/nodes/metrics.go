package nodes

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// metrics is one time series.
type metrics struct {
	Unit     string `json:"unit"`
	Complete bool   `json:"complete"`
	Series   []struct {
		NodeID *string `json:"nodeId"`
		Points []struct {
			Time            *string `json:"time"`
			Value, Min, Max float64
		} `json:"points"`
	} `json:"series"`
}

func metricsCommand(s *remote.Session) *cobra.Command {
	var from, to, node, group string
	step := 0
	c := &cobra.Command{
		Use: "metrics NAME", Short: "Show a time series of the nodes, the groups or the cluster",
		Args: usage.Args(cobra.ExactArgs(1)),
		Long: "Show a time series of the nodes, the groups or the cluster. docs/metrics.md lists the names.",
		Example: "  platform-scheduler metrics executions.ended --step 300\n" +
			"  platform-scheduler metrics node.cpu --node n1 --from \"2026-11-16 02:00\"",
		RunE: func(c *cobra.Command, args []string) error {
			first, err := s.Time(remote.Input{Flag: "--from", Text: from}, "")
			if err != nil {
				return err
			}
			last, err := s.Time(remote.Input{Flag: "--to", Text: to}, "")
			if err != nil {
				return err
			}
			query := remote.Query("name", args[0], "from", remote.Sent(first), "to", remote.Sent(last), "nodeId", node, "group",
				group)
			if step != 0 {
				query.Set("step", fmt.Sprint(step))
			}
			return remote.Get(s, c, "/monitor/metrics", query, func(m metrics) error { return m.show(s) })
		},
	}
	c.Flags().StringVar(&from, "from", "", "begin at this `TIME`; by default an hour before the end")
	c.Flags().StringVar(&to, "to", "", "end at this `TIME`; by default now")
	c.Flags().IntVar(&step, "step", 0, "`SECONDS` of a point, a multiple of 60; by default chosen by the span")
	c.Flags().StringVar(&node, "node", "", "only this node")
	c.Flags().StringVar(&group, "group", "", "only the jobs of this group")
	return c
}

func (m metrics) show(s *remote.Session) error {
	var rows [][]string
	for _, line := range m.Series {
		node := ""
		if line.NodeID != nil {
			node = *line.NodeID
		}
		for _, p := range line.Points {
			rows = append(rows, []string{
				s.Moment(p.Time), node, fmt.Sprintf("%.6g", p.Value), fmt.Sprintf("%.6g", p.Min), fmt.Sprintf("%.6g", p.Max),
			})
		}
	}
	if err := s.Rows([]string{"TIME", "NODE", "VALUE (" + m.Unit + ")", "MIN", "MAX"}, rows); err != nil || m.Complete {
		return err
	}
	return s.Line("There are more values: ask for a shorter span.")
}
