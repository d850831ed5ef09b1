// Package schedules holds the commands about schedules that need no job.
package schedules

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// fireTimes is what the API answers to a preview.
type fireTimes struct {
	FireTimes   []string `json:"fireTimes"`
	Description string   `json:"description"`
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "schedule", Short: "Preview schedules, show how many fires are planned, and spread them",
		Example: "  platform-scheduler schedule preview --cron \"0 0 9 ? * MON-FRI\" --zone Asia/Shanghai",
	})
	c.AddCommand(previewCommand(s), loadCommand(s), spreadCommand(s))
	return []*cobra.Command{c}
}

// preview are the flags of schedule preview.
type preview struct {
	cron, dialect, zone, every, schedule, from string
	count                                      int
}

func previewCommand(s *remote.Session) *cobra.Command {
	var p preview
	c := &cobra.Command{
		Use: "preview", Short: "Show when a schedule would fire; nothing is stored", Args: usage.Args(cobra.NoArgs),
		Long: "Show when a schedule would fire, in its own zone, or in UTC with --utc. --schedule\ntakes one as a job " +
			"has it.",
		Example: "  platform-scheduler schedule preview --cron \"0 0 9 ? * MON-FRI\" --zone Asia/Shanghai --count 5\n" +
			"  platform-scheduler schedule preview --cron \"*/5 * * * *\" --dialect UNIX\n" +
			"  platform-scheduler schedule preview --every 90s\n" +
			"  platform-scheduler schedule preview --schedule '{\"kind\": \"ONCE\", \"at\": \"2030-01-01T00:00:00Z\"}'",
		RunE: func(c *cobra.Command, _ []string) error { return p.run(s, c) },
	}
	f := c.Flags()
	f.StringVar(&p.cron, "cron", "", "a cron expression")
	f.StringVar(&p.dialect, "dialect", "", "of the expression: QUARTZ (with seconds) or UNIX")
	f.StringVar(&p.zone, "zone", "", "its time `ZONE`, such as Asia/Shanghai; by default the server's")
	f.StringVar(&p.every, "every", "", "a fixed rate, as a `TIME` such as 90s")
	f.StringVar(&p.schedule, "schedule", "", "a schedule in the form of a job, a JSON `OBJECT`")
	f.StringVar(&p.from, "from", "", "count from this `TIME` on; by default from now")
	f.IntVar(&p.count, "count", 10, "how many times, at most 1000")
	return c
}

// body is what the API takes.
func (p *preview) body(s *remote.Session) (body map[string]any, zone string, err error) {
	schedule := map[string]any{}
	given := 0
	for _, one := range []string{p.cron, p.every, p.schedule} {
		if one != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, "", usage.Errorf("give one of --cron, --every and --schedule")
	case p.cron != "":
		schedule["kind"], schedule["cronExpression"] = "CRON", p.cron
	case p.every != "":
		every, err := time.ParseDuration(p.every)
		if err != nil {
			return nil, "", usage.Errorf("--every must be a span such as 90s or 2h, not %q", p.every)
		}
		schedule["kind"], schedule["intervalMs"] = "FIXED_RATE", every.Milliseconds()
	default:
		if err := json.Unmarshal([]byte(p.schedule), &schedule); err != nil || schedule == nil {
			return nil, "", usage.Errorf("--schedule is a JSON object, such as '{\"kind\": \"FIXED_RATE\", \"intervalMs\": " +
				"60000}'")
		}
	}
	if p.dialect != "" {
		schedule["dialect"] = strings.ToUpper(p.dialect)
	}
	if p.zone != "" {
		schedule["timeZone"] = p.zone
	}
	zone, _ = schedule["timeZone"].(string)
	from, err := s.Time(remote.Input{Flag: "--from", Text: p.from}, zone)
	if err != nil {
		return nil, "", err
	}
	body = map[string]any{"schedule": schedule, "count": p.count}
	if !from.IsZero() {
		body["from"] = remote.Sent(from)
	}
	return body, zone, nil
}

func (p *preview) run(s *remote.Session, c *cobra.Command) error {
	body, zone, err := p.body(s)
	if err != nil {
		return err
	}
	return remote.Send(s, c, "POST", "/schedules/preview", nil, body, func(v fireTimes) error {
		if v.Description != "" {
			s.Notef("%s", v.Description)
		}
		for _, t := range v.FireTimes {
			if err := s.Line("%s", remote.In(s.Zone(zone), &t)); err != nil {
				return err
			}
		}
		return nil
	})
}
