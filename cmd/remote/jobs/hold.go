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
}

func (n *naming) pause() *cobra.Command {
	h := &holding{naming: n, what: "pause"}
	return h.command("Stop planning a job, the jobs of a group, or all")
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
		return several{what: h.what}, nil
	})
	c.Use += "]"
	c.Args = usage.Args(cobra.ArbitraryArgs)
	c.Flags().BoolVar(&h.all, "all", false, "every job there is")
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
		return hold(h.Session, c, "/jobs", h.what, "all jobs", nil)
	case len(args) == 1:
		return h.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			return remote.SendBy(h.Session, c, api, "POST", "/jobs/"+j.ID+"/"+h.what, nil, nil, func(json.RawMessage) error {
				return h.Line("%sd %s", h.what, j.Name)
			})
		})
	case h.group != "":
		return hold(h.Session, c, groupPath(h.group), h.what, "the group "+h.group, nil)
	}
	return usage.Errorf("name a job, or a group with --group, or --all")
}

// hold pauses or resumes a group, or every job.
func hold(s *remote.Session, c *cobra.Command, path, what, whom string, body any) error {
	return remote.Send(s, c, "POST", path+"/"+what, nil, body, func(g group) error {
		rest := ""
		if !g.Settled {
			rest = "; its last jobs follow shortly"
		}
		return s.Line("%sd %s%s", what, whom, rest)
	})
}
