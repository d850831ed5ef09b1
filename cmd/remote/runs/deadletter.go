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
		Use: "dead-letter", Short: "See, replay and discard runs that used up their retries",
		Example: "  platform-scheduler dead-letter causes\n  platform-scheduler dead-letter replay --job \"settle orders\" --reason HTTP_STATUS",
	})
	c.AddCommand(letterList(s), letterCauses(s), letterReplay(s), letterDiscard(s))
	return c
}

func letterList(s *remote.Session) *cobra.Command {
	var f letterFilter
	var pages remote.Pages
	c := &cobra.Command{
		Use: "list", Short: "List dead letters, newest first", Example: "  platform-scheduler dead-letter list --job \"settle orders\"", Args: usage.Args(cobra.NoArgs),
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
		Use: "causes", Short: "Count what waits for somebody, by job and reason", Example: "  platform-scheduler dead-letter causes", Args: usage.Args(cobra.NoArgs),
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
		Use: "replay ID | --job JOB --reason REASON", Short: "Run dead letters again, as new runs", Args: usage.Args(cobra.MaximumNArgs(1)),
		Example: "  platform-scheduler dead-letter replay 0193… --wait\n  platform-scheduler dead-letter replay --job \"settle orders\" --reason HTTP_STATUS",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && f.job == "" {
				return wait.Start(s, c, "/dead-letters/"+remote.Segment(args[0])+"/replay", nil)
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
		Use: "discard ID | --job JOB --reason REASON", Short: "Take dead letters off the list; their runs stay DEAD", Args: usage.Args(cobra.MaximumNArgs(1)),
		Example: "  platform-scheduler dead-letter discard 0193…\n  platform-scheduler dead-letter discard --job \"settle orders\" --reason HTTP_STATUS --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || f.job != "" {
				return f.ofCause(s, c, args, q, "discard")
			}
			return remote.Send(s, c, "POST", "/dead-letters/"+remote.Segment(args[0])+"/discard", nil, nil, func(json.RawMessage) error {
				return s.Line("discarded %s", args[0])
			})
		},
	}
	f.flags(c)
	q.Flag(c)
	return c
}

// bulk is the answer to an action on many objects.
type bulk struct {
	Items     []json.RawMessage `json:"items"`
	Succeeded int               `json:"succeeded"`
	Failed    int               `json:"failed"`
	More      bool              `json:"more"`
}

// ofCause does something to all dead letters of a job and a reason, 500 a call.
func (f *letterFilter) ofCause(s *remote.Session, c *cobra.Command, args []string, q terminal.Question, what string) error {
	if len(args) > 0 || f.job == "" || f.reason == "" {
		return usage.Errorf("name a dead letter by its id, or all of a cause with --job and --reason")
	}
	api, err := s.Client()
	if err != nil {
		return err
	}
	id, err := f.jobID(s, c, api)
	if err != nil {
		return err
	}
	if err := q.Ask(s.Err, "%s all dead letters of %s that ended with %s?", map[string]string{"replay": "Replay", "discard": "Discard"}[what], f.job, f.reason); err != nil {
		return err
	}
	total := bulk{More: true, Items: []json.RawMessage{}}
	for total.More {
		var part bulk
		if err := api.Call(c.Context(), "POST", "/bulk/dead-letters/"+what, nil, map[string]string{"jobId": id, "reason": f.reason}, &part); err != nil {
			return err
		}
		total.Items = append(total.Items, part.Items...)
		total.Succeeded += part.Succeeded
		total.Failed += part.Failed
		// A round in which nothing succeeded would go on for ever.
		total.More = part.More && part.Succeeded > 0
	}
	if !s.ForPeople() {
		err = s.Value(total)
	} else {
		err = s.Line("%d done, %d failed", total.Succeeded, total.Failed)
	}
	if err == nil && total.Failed > 0 {
		err = fmt.Errorf("%d dead letters failed", total.Failed)
	}
	return err
}
