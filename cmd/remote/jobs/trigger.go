package jobs

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/runs"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// triggering are the flags of job trigger.
type triggering struct {
	params            string
	param             []string
	at, scheduledTime string
	delay             time.Duration
	wait              runs.Waiting
}

func (n *naming) trigger() *cobra.Command {
	var t triggering
	c := n.one("trigger", "Run a job now, or at a given time",
		func(c *cobra.Command, _ *client.Client, j remote.Job) error {
			body, err := t.body(n.Session, j)
			if err != nil {
				return err
			}
			return t.wait.Start(n.Session, c, "/jobs/"+j.ID+"/trigger", body)
		})
	n.orSeveral(c, func(c *cobra.Command) (several, error) {
		given := ""
		own := c.LocalNonPersistentFlags()
		c.Flags().Visit(func(f *pflag.Flag) {
			if own.Lookup(f.Name) != nil {
				given = f.Name
			}
		})
		if given != "" {
			return several{}, usage.Errorf("--%s is for one job; several are run now, as they are", given)
		}
		return several{what: "trigger"}, nil
	})
	c.Long = `Run a job now, or at a given time, and print the ids of its runs, one a shard. With
--wait their logs are followed to their end, also over a restart of the server;
then -o json prints the runs as they ended.

--param day=2026-11-14 may be repeated; its value is a string. --params takes a
JSON object for values of other types; --param overrides it.

Several jobs are run now, as they are.`
	begin := "  platform-scheduler job trigger \"settle orders\""
	c.Example = begin + " --wait\n" + begin + " --param day=2026-11-14 --param region=eu\n" + begin +
		" --params '{\"limit\": 10}' --at 03:00"
	f := c.Flags()
	f.StringVar(&t.params, "params", "", "parameters of the run, a JSON `OBJECT`")
	f.StringArrayVar(&t.param, "param", nil, "a parameter of the run, as `NAME=VALUE`; may be repeated")
	f.StringVar(&t.at, "at", "",
		"start at this `TIME`, such as 2026-11-14T03:00:00Z or 03:00; without a zone it is taken in the job's")
	f.DurationVar(&t.delay, "delay", 0, "start after this `TIME`, such as 90s or 2h")
	f.StringVar(&t.scheduledTime, "scheduled-time", "",
		"the value of ${scheduledTime}, as `TIME`; by default the time of the start")
	t.wait.Flags(c)
	return c
}

// body is what the API takes.
func (t *triggering) body(s *remote.Session, j remote.Job) (map[string]any, error) {
	body := map[string]any{}
	params, err := t.values()
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		body["params"] = params
	}
	zone := j.Schedule.TimeZone
	if nominal, err := s.Time(remote.Input{Flag: "--scheduled-time", Text: t.scheduledTime}, zone); err != nil {
		return nil, err
	} else if !nominal.IsZero() {
		body["scheduledTime"] = remote.Sent(nominal)
	}
	delay := t.delay
	if t.at != "" {
		if delay != 0 {
			return nil, usage.Errorf("--at and --delay exclude each other: use one of them")
		}
		at, err := s.Time(remote.Input{Flag: "--at", Text: t.at}, zone)
		if err != nil {
			return nil, err
		}
		if delay = at.Sub(s.Clock.Now()); delay < 0 {
			return nil, usage.Errorf("--at is past: %s", at.Format(time.RFC3339))
		}
		if body["scheduledTime"] == nil {
			body["scheduledTime"] = remote.Sent(at) // the server counts whole seconds
		}
	}
	if delay < 0 {
		return nil, usage.Errorf("--delay must not be negative")
	}
	if delay > 0 {
		body["delaySec"] = int(math.Ceil(delay.Seconds()))
	}
	return body, nil
}

// values are the parameters of both flags.
func (t *triggering) values() (map[string]json.RawMessage, error) {
	params := map[string]json.RawMessage{}
	if t.params != "" {
		if err := json.Unmarshal([]byte(t.params), &params); err != nil || params == nil {
			return nil, usage.Errorf("--params is a JSON object, such as '{\"day\": \"2026-11-14\"}'")
		}
	}
	single := map[string]json.RawMessage{}
	for _, p := range t.param {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("--param must be NAME=VALUE, not %q", p)
		}
		if _, twice := single[name]; twice {
			return nil, usage.Errorf("--param %s is given twice", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		single[name] = text
	}
	maps.Copy(params, single)
	return params, nil
}
