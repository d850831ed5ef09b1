package jobs

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// holding pauses or resumes one job, the jobs of a group, or all.
type holding struct {
	*naming
	what     string
	all      bool
	question terminal.Question
	pausing  pausing
}

// pausing are the flags of a pause.
type pausing struct{ reason, until string }

func (p *pausing) flags(c *cobra.Command, whose string) {
	c.Flags().StringVar(&p.reason, "reason", "", "why, for people; it is shown with what is paused and in the ledger")
	c.Flags().StringVar(&p.until, "until", "", "end the pause at this `TIME`, such as 2026-11-16T06:00:00Z or \"2026-11-16 06:00\"; without a zone it is taken in that of "+whose)
}

// body is what the API takes of them; it is empty where none is given.
func (p *pausing) body(s *remote.Session, zoneName string) (map[string]any, error) {
	until, err := s.Time(remote.Input{Flag: "--until", Text: p.until}, zoneName)
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	if p.reason != "" {
		body["reason"] = p.reason
	}
	if !until.IsZero() {
		body["until"] = remote.Sent(until)
	}
	return body, nil
}

func (n *naming) pause() *cobra.Command {
	h := &holding{naming: n, what: "pause"}
	c := h.command("Stop planning a job, the jobs of a group, or all")
	c.Example += "\n  platform-scheduler job pause \"settle orders\" --reason \"the bank is closed\" --until \"2026-11-16 06:00\""
	h.pausing.flags(c, "the job, or of this machine where several are meant")
	return c
}

func (n *naming) resume() *cobra.Command {
	h := &holding{naming: n, what: "resume"}
	return h.command("Plan a job, the jobs of a group, or all again")
}

// errAll refuses a choice beside all.
var errAll = usage.Errorf("--all goes without a job and without --group")

func (h *holding) command(short string) *cobra.Command {
	begin := "  platform-scheduler job " + h.what
	c := &cobra.Command{
		Use: h.what + " [JOB", Short: short, ValidArgsFunction: h.CompleteJobs,
		Example: begin + " \"settle orders\"\n" + begin + " --group reports\n" + begin + " --all",
		RunE:    h.run,
	}
	h.orSeveral(c, func(*cobra.Command) (several, error) {
		if h.all {
			return several{}, errAll
		}
		body, err := h.pausing.body(h.Session, "")
		return several{what: h.what, body: body}, err
	})
	c.Use += "]"
	c.Args = usage.Args(cobra.ArbitraryArgs)
	c.Flags().BoolVar(&h.all, "all", false, "all jobs")
	h.question.Flag(c)
	return c
}

func (h *holding) run(c *cobra.Command, args []string) error {
	switch {
	case h.all && (len(args) > 0 || h.group != ""):
		return errAll
	case h.all:
		if err := h.question.Ask(h.Err, "%s every job there is?", map[string]string{"pause": "Pause", "resume": "Resume"}[h.what]); err != nil {
			return err
		}
		return hold(h.Session, c, "/jobs", h.what, "all jobs", h.pausing)
	case len(args) == 1:
		return h.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			body, err := h.pausing.body(h.Session, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			return remote.SendBy(h.Session, c, api, "POST", "/jobs/"+j.ID+"/"+h.what, nil, body, func(json.RawMessage) error {
				return h.Line("%sd %s", h.what, j.Name)
			})
		})
	case h.group != "":
		return hold(h.Session, c, groupPath(h.group), h.what, "the group "+h.group, h.pausing)
	}
	return usage.Errorf("name a job, or a group with --group, or --all")
}

// hold pauses or resumes a group, or every job.
func hold(s *remote.Session, c *cobra.Command, path, what, whom string, p pausing) error {
	body, err := p.body(s, "")
	if err != nil {
		return err
	}
	return remote.Send(s, c, "POST", path+"/"+what, nil, body, func(g group) error {
		rest := ""
		if !g.Settled {
			rest = "; its last jobs follow shortly"
		}
		return s.Line("%sd %s%s", what, whom, rest)
	})
}
