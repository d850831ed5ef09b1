package alerts

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func ruleCommand(s *remote.Session) *cobra.Command {
	c := ruleKind.command(s, "Say what is worth an alert",
		"  platform-scheduler rule list\n  platform-scheduler rule dry-run -f rule.yaml --from 2026-11-14")
	c.AddCommand(ruleValidate(s), ruleDryRun(s))
	return c
}

func ruleValidate(s *remote.Session) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "validate", Short: "Check the rule in a file, and keep nothing", Args: usage.Args(cobra.NoArgs),
		Example: "  platform-scheduler rule validate -f rule.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			body, err := readFile(s, c, api, file)
			if err != nil {
				return err
			}
			return remote.SendBy(s, c, api, "POST", "/alert-rules/validate", nil, body, func(json.RawMessage) error {
				return s.Line("the rule is good")
			})
		},
	}
	fileFlag(c, &file)
	return c
}

// dryRun is what a rule would have raised.
type dryRun struct {
	From       *string  `json:"from"`
	To         *string  `json:"to"`
	Alerts     []alert  `json:"alerts"`
	Total      int      `json:"total"`
	Evidence   int      `json:"evidence"`
	Executions int      `json:"executions"`
	Truncated  bool     `json:"truncated"`
	Notes      []string `json:"notes"`
}

func (d dryRun) show(s *remote.Session) error {
	err := s.Fields([]output.Field{
		{Name: "From", Value: s.Moment(d.From)},
		{Name: "To", Value: s.Moment(d.To)},
		{Name: "Alerts", Value: fmt.Sprint(d.Total)},
		{Name: "Evidence", Value: fmt.Sprint(d.Evidence)},
		{Name: "Runs looked at", Value: fmt.Sprint(d.Executions)},
	})
	if err != nil {
		return err
	}
	for _, note := range d.Notes {
		s.Notef("%s", note)
	}
	if d.Truncated {
		s.Notef("a bound was reached: there may be more")
	}
	if len(d.Alerts) == 0 {
		return nil
	}
	rows := make([][]string, len(d.Alerts))
	for i, a := range d.Alerts {
		rows[i] = []string{s.Moment(a.StartTime), s.Moment(a.EndTime), fmt.Sprint(a.Count), a.Content}
	}
	return table(s, []string{"FROM", "UNTIL", "COUNT", "CONTENT"}, rows)
}

func ruleDryRun(s *remote.Session) *cobra.Command {
	var file string
	var span remote.Span
	c := &cobra.Command{
		Use: "dry-run [RULE]", Short: "Show which alerts a rule would have raised", Args: usage.Args(cobra.MaximumNArgs(1)),
		Long: "Show which alerts a rule, or the one in a file, would have raised in the past: by\ndefault in the last day. " +
			"Nobody is told, and nothing is kept.",
		Example: "  platform-scheduler rule dry-run \"billing fails\"\n  platform-scheduler rule dry-run -f rule.yaml " +
			"--from " +
			"2026-11-14 --to 2026-11-15",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 == (file != "") {
				return usage.Errorf("name a rule, or a file with -f")
			}
			api, err := s.Client()
			if err != nil {
				return err
			}
			from, to, err := span.Sent(s, "")
			if err != nil {
				return err
			}
			now := s.Clock.Now()
			if to == "" {
				to = remote.Sent(now)
			}
			if from == "" {
				from = remote.Sent(now.Add(-day))
			}
			rule, err := ruleOf(s, c, api, file, args)
			if err != nil {
				return err
			}
			return remote.SendBy(s, c, api, "POST", "/alert-rules/dry-run", nil,
				map[string]any{"rule": rule, "from": from, "to": to}, func(d dryRun) error { return d.show(s) })
		},
	}
	fileFlag(c, &file)
	span.Flags(c, "this machine")
	return c
}

// ruleOf is the rule that a file holds, or an argument names.
func ruleOf(s *remote.Session, c *cobra.Command, api *client.Client, file string, args []string) (any, error) {
	if file != "" {
		return readFile(s, c, api, file)
	}
	found, err := find(c, api, ruleKind, args[0])
	return found.fields, err
}
