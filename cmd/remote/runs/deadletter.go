package runs

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// deadLetter is what the commands show of a dead letter.
type deadLetter struct {
	ID         string  `json:"id"`
	JobName    string  `json:"jobName"`
	Reason     string  `json:"reason"`
	Message    string  `json:"message"`
	ReplayedAs *string `json:"replayedAs"`
	CreateTime *string `json:"createTime"`
}

// cause is dead letters of one job that ended for one reason.
type cause struct {
	JobName    string  `json:"jobName"`
	Reason     string  `json:"reason"`
	Count      int     `json:"count"`
	FirstTime  *string `json:"firstTime"`
	LatestTime *string `json:"latestTime"`
	Message    string  `json:"message"`
}

// letterFilter are the flags that choose dead letters.
type letterFilter struct{ job, group, reason string }

func (f *letterFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.job, "job", "", "only those of this `JOB`, by name or id")
	c.Flags().StringVar(&f.group, "group", "", "the group of the job")
	c.Flags().StringVar(&f.reason, "reason", "", "only those that ended for this reason, such as EXIT_CODE")
}

// jobID is the id of the job that --job names; "" where it names none.
func (f *letterFilter) jobID(s *remote.Session, c *cobra.Command, api *client.Client) (string, error) {
	if f.job == "" {
		return "", nil
	}
	j, err := s.FindJob(c, api, f.job, f.group)
	return j.ID, err
}

func deadLetterCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "dead-letter", Short: "List, replay and discard runs that used up their retries",
		Example: "  platform-scheduler dead-letter causes\n  platform-scheduler dead-letter replay --job \"settle orders\" " +
			"--reason HTTP_STATUS",
	})
	c.AddCommand(letterList(s), letterCauses(s), letterReplay(s), letterDiscard(s))
	return c
}

func letterList(s *remote.Session) *cobra.Command {
	var f letterFilter
	var pages remote.Pages
	c := &cobra.Command{
		Use: "list", Short: "List dead letters, newest first",
		Example: "  platform-scheduler dead-letter list --job \"settle orders\"", Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := s.Client()
			if err != nil {
				return err
			}
			id, err := f.jobID(s, c, api)
			if err != nil {
				return err
			}
			return remote.ListOf(s, c, api, "/dead-letters", remote.Query("jobId", id, "reason", f.reason), pages,
				remote.Column[deadLetter]{Name: "id", Of: func(d deadLetter) string { return d.ID }},
				remote.Column[deadLetter]{Name: "job", Of: func(d deadLetter) string { return d.JobName }},
				remote.Column[deadLetter]{Name: "died", Of: func(d deadLetter) string { return s.Moment(d.CreateTime) }},
				remote.Column[deadLetter]{Name: "reason", Of: func(d deadLetter) string { return d.Reason }},
				remote.Column[deadLetter]{Name: "replayed as", Of: func(d deadLetter) string { return remote.Deref(d.ReplayedAs) }},
				remote.Column[deadLetter]{Name: "message", Of: func(d deadLetter) string { return d.Message }},
			)
		},
	}
	f.flags(c)
	pages.Flags(c, 50)
	return c
}

func letterCauses(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "causes", Short: "Count the dead letters by job and reason", Example: "  platform-scheduler dead-letter causes",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return remote.Whole(s, c, "/dead-letters/causes", nil,
				remote.Column[cause]{Name: "job", Of: func(v cause) string { return v.JobName }},
				remote.Column[cause]{Name: "reason", Of: func(v cause) string { return v.Reason }},
				remote.Column[cause]{Name: "count", Of: func(v cause) string { return fmt.Sprint(v.Count) }},
				remote.Column[cause]{Name: "first", Of: func(v cause) string { return s.Moment(v.FirstTime) }},
				remote.Column[cause]{Name: "latest", Of: func(v cause) string { return s.Moment(v.LatestTime) }},
				remote.Column[cause]{Name: "message of the latest", Of: func(v cause) string { return v.Message }},
			)
		},
	}
}

func letterReplay(s *remote.Session) *cobra.Command {
	var f letterFilter
	var wait Waiting
	var q terminal.Question
	c := &cobra.Command{
		Use: "replay ID… | --job JOB --reason REASON", Short: "Run dead letters again, as new runs",
		Args: usage.Args(cobra.ArbitraryArgs),
		Example: "  platform-scheduler dead-letter replay 0193… --wait\n  platform-scheduler dead-letter replay --job " +
			"\"settle orders\" --reason HTTP_STATUS",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && f == (letterFilter{}) {
				return wait.Start(s, c, "/dead-letters/"+remote.Segment(args[0])+"/replay", nil)
			}
			if wait.Asked() {
				return usage.Errorf("--wait and --timestamps follow one dead letter that is named by its id")
			}
			return f.ofCause(s, c, args, q, "replay")
		},
	}
	f.flags(c)
	wait.Flags(c)
	q.Flag(c)
	return c
}

func letterDiscard(s *remote.Session) *cobra.Command {
	var f letterFilter
	var q terminal.Question
	c := &cobra.Command{
		Use: "discard ID… | --job JOB --reason REASON", Short: "Remove dead letters from the list; their runs stay DEAD",
		Args: usage.Args(cobra.ArbitraryArgs),
		Example: "  platform-scheduler dead-letter discard 0193…\n  platform-scheduler dead-letter discard --job \"settle " +
			"orders\" --reason HTTP_STATUS --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || f != (letterFilter{}) {
				return f.ofCause(s, c, args, q, "discard")
			}
			return remote.Send(s, c, "POST", "/dead-letters/"+remote.Segment(args[0])+"/discard", nil, nil,
				func(json.RawMessage) error {
					return s.Line("discarded %s", args[0])
				})
		},
	}
	f.flags(c)
	q.Flag(c)
	return c
}

// ofCause does something to all dead letters of a job and a reason, or to those
// that are named.
func (f *letterFilter) ofCause(s *remote.Session, c *cobra.Command, args []string, q terminal.Question,
	what string,
) error {
	byCause := f.job != "" || f.reason != ""
	if len(args) > 0 && byCause || len(args) == 0 && (f.job == "" || f.reason == "") {
		return usage.Errorf("name dead letters by their ids, or all of a cause with --job and --reason")
	}
	api, err := s.Client()
	if err != nil {
		return err
	}
	all := remote.Bulk{Path: "/bulk/dead-letters/" + what, IDs: args}
	if byCause {
		id, err := f.jobID(s, c, api)
		if err != nil {
			return err
		}
		if err := q.Ask(s.Err, "%s all dead letters of %s that ended with %s?",
			map[string]string{"replay": "Replay", "discard": "Discard"}[what], f.job, f.reason); err != nil {
			return err
		}
		all.Body = map[string]any{"jobId": id, "reason": f.reason}
	}
	return all.Do(s, c, api)
}
