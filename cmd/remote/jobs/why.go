package jobs

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// explanation is the answer of the API.
type explanation struct {
	Explanation string `json:"explanation"`
	Message     string `json:"message"`
	Facts       []struct {
		Text string `json:"text"`
	} `json:"facts"`
}

func (n *naming) why() *cobra.Command {
	c := n.one("why", "Explain why a job did, or did not, fire at a time", nil)
	c.Use = "why JOB [TIME]"
	c.Long = `Say what became of the fire of a job at a moment, and why: it was run, was skipped,
waits, is still to come, or was never planned. The answer is made of the ledger, the
definition of that time, pauses, limits, nodes and alerts. Without a zone the time is
taken in that of the job; without a time it is that of the latest fire.`
	c.Example = "  platform-scheduler job why \"settle orders\" --at 03:00\n  platform-scheduler job why \"settle " +
		"orders\" " +
		"2026-11-14T03:00:00Z"
	at := ""
	c.Flags().StringVar(&at, "at", "", "the moment, as `TIME` such as 2026-11-14T00:00:00Z, \"2026-11-14 09:30\" or 09:30")
	c.Args = usage.Args(cobra.RangeArgs(1, 2))
	c.RunE = func(c *cobra.Command, args []string) error {
		in := remote.Input{Flag: "--at", Text: at}
		if len(args) == 2 {
			if at != "" {
				return usage.Errorf("give the time once: as TIME or as --at")
			}
			in = remote.Input{Flag: "TIME", Text: args[1]}
		}
		return n.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			moment, err := n.Time(in, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			zone := ""
			if n.Zone(j.Schedule.TimeZone) == time.UTC {
				zone = "UTC"
			}
			var raw json.RawMessage
			query := remote.Query("at", remote.Sent(moment), "timeZone", zone)
			if err := api.Call(c.Context(), "GET", "/jobs/"+j.ID+"/why", query, nil, &raw); err != nil {
				return err
			}
			if !n.ForPeople() {
				return n.Value(raw)
			}
			return n.tell(raw)
		})
	}
	return c
}

// tell writes an explanation for people: the sentence, what the run said, and each fact on a line.
func (n *naming) tell(raw json.RawMessage) error {
	var e explanation
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if err := n.Line("%s", e.Explanation); err != nil {
		return err
	}
	if e.Message != "" {
		if err := n.Line("%s", e.Message); err != nil {
			return err
		}
	}
	for _, f := range e.Facts {
		if err := n.Line("- %s", f.Text); err != nil {
			return err
		}
	}
	return nil
}
