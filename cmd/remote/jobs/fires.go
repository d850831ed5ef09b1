package jobs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// fire is a line of the fire ledger.
type fire struct {
	FireKey       string   `json:"fireKey"`
	ScheduledTime *string  `json:"scheduledTime"`
	Outcome       string   `json:"outcome"`
	WaitsFor      string   `json:"waitsFor"`
	Reason        string   `json:"reason"`
	Message       string   `json:"message"`
	LatenessMs    *int64   `json:"latenessMs"`
	ExecutionIDs  []string `json:"executionIds"`
	Replays       []string `json:"replays"`
	RangeEnd      *string  `json:"rangeEnd"`
	Count         *int     `json:"count"`
	CountAtLeast  bool     `json:"countAtLeast"`
}

// count is how many fires the line stands for; "" for one.
func (f fire) count() string {
	switch {
	case f.Count == nil:
		return ""
	case f.CountAtLeast:
		return fmt.Sprint(*f.Count, "+")
	}
	return fmt.Sprint(*f.Count)
}

// why is the reason of an outcome, or what a fire waits for.
func (f fire) why() string {
	if f.Reason == "" && f.WaitsFor != "" {
		return "waits for " + f.WaitsFor
	}
	return f.Reason
}

// started reports whether the fire was run, so that it can have been late.
func (f fire) started() bool {
	switch f.Outcome {
	case "PLANNED", "WAITING", "SKIPPED":
		return false
	}
	return true
}

func (f fire) late() string {
	if !f.started() {
		return ""
	}
	return remote.Took(f.LatenessMs)
}

func (n *naming) fires() *cobra.Command {
	var span remote.Span
	var pages remote.Pages
	c := n.one("fires", "Show the outcome of each fire, newest first",
		func(c *cobra.Command, api *client.Client, j remote.Job) error {
			from, to, err := span.Sent(n.Session, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			zone := n.Zone(j.Schedule.TimeZone)
			return remote.ListOf(n.Session, c, api, "/jobs/"+j.ID+"/fires", remote.Query("from", from, "to", to), pages,
				remote.Column[fire]{Name: "planned", Of: func(f fire) string { return remote.In(zone, f.ScheduledTime) }},
				remote.Column[fire]{Name: "to", Of: func(f fire) string { return remote.In(zone, f.RangeEnd) }},
				remote.Column[fire]{Name: "fires", Of: fire.count},
				remote.Column[fire]{Name: "outcome", Of: func(f fire) string { return f.Outcome }},
				remote.Column[fire]{Name: "reason", Of: fire.why},
				remote.Column[fire]{Name: "late", Of: fire.late},
				remote.Column[fire]{Name: "runs", Of: func(f fire) string { return strings.Join(f.ExecutionIDs, " ") }},
				remote.Column[fire]{Name: "replays", Of: func(f fire) string { return strings.Join(f.Replays, " ") }},
				remote.Column[fire]{Name: "message", Of: func(f fire) string { return f.Message }},
			)
		})
	c.Long = `Show the fire ledger: what became of each planned fire, newest first, in the zone
of the job (with --utc in UTC). Without --from it shows the 24 hours before now,
or before --to; without --to also the nearest fires of the hour to come.`
	c.Example = "  platform-scheduler job fires \"settle orders\" --from 03:00\n  platform-scheduler job fires \"settle " +
		"orders\" --from 2026-11-01 --to 2026-11-08 --limit 0 -o json"
	span.Flags(c, "the job")
	pages.Flags(c, 50)
	return c
}
