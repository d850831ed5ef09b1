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
	flags    remote.PauseFlags
}

func (n *naming) pause() *cobra.Command {
	h := &holding{naming: n, what: "pause"}
	c := h.command("Stop planning a job, the jobs of a group, or all")
	c.Example += "\n  platform-scheduler job pause \"settle orders\" --reason \"the bank is closed\" --until " +
		"\"2026-11-16 06:00\""
	h.flags.Add(c, "the job, or of this machine where several are meant")
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
		body, err := h.flags.Body(h.Session, "")
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
		if err := h.question.Ask(h.Err, "%s all jobs?",
			map[string]string{"pause": "Pause", "resume": "Resume"}[h.what]); err != nil {
			return err
		}
		return remote.PauseOrResume(h.Session, c, "/jobs", h.what, "all jobs", h.flags)
	case len(args) == 1:
		return h.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			body, err := h.flags.Body(h.Session, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			return remote.SendBy(h.Session, c, api, "POST", "/jobs/"+j.ID+"/"+h.what, nil, body, func(json.RawMessage) error {
				return h.Line("%sd %s", h.what, j.Name)
			})
		})
	case h.group != "":
		return remote.PauseOrResume(h.Session, c, remote.GroupPath(h.group), h.what, "the group "+h.group, h.flags)
	}
	return usage.Errorf("name a job, or a group with --group, or --all")
}
