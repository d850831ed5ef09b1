// Package runs holds the commands about runs: executions, their logs, and dead
// letters.
package runs

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// execution is what the commands show of a run.
type execution struct {
	ID            string  `json:"id"`
	JobID         string  `json:"jobId"`
	JobName       string  `json:"jobName"`
	ScheduledTime *string `json:"scheduledTime"`
	Trigger       string  `json:"trigger"`
	TriggeredBy   string  `json:"triggeredBy"`
	// TriggeredByToken is the API token that spoke for the user.
	TriggeredByToken *string `json:"triggeredByToken"`
	ShardIndex       int     `json:"shardIndex"`
	ShardTotal       int     `json:"shardTotal"`
	Status           string  `json:"status"`
	Reason           string  `json:"reason"`
	WaitsFor         string  `json:"waitsFor"`
	WaitsOn          string  `json:"waitsOn"`
	NodeID           string  `json:"nodeId"`
	// Detached runs have no node: their targets report the end, until Deadline at
	// most.
	Detached     bool    `json:"detached"`
	Deadline     *string `json:"deadline"`
	Attempt      int     `json:"attempt"`
	Priority     int     `json:"priority"`
	StartTime    *string `json:"startTime"`
	EndTime      *string `json:"endTime"`
	DurationMs   *int64  `json:"durationMs"`
	LatenessMs   *int64  `json:"latenessMs"`
	Progress     int     `json:"progress"`
	ErrorMessage string  `json:"errorMessage"`
	Result       string  `json:"result"`
	RetryOf      *string `json:"retryOf"`
	JobVersion   int     `json:"jobVersion"`
	SkipTo       *string `json:"skipTo"`
	SkipCount    int     `json:"skipCount"`
	// Params and Checkpoint are in the view of one run alone.
	Params     json.RawMessage `json:"params"`
	Checkpoint string          `json:"checkpoint"`
}

// by is who asked for the run.
func (e execution) by() string {
	if e.TriggeredByToken == nil {
		return e.TriggeredBy
	}
	return fmt.Sprintf("%s, with the token %s", e.TriggeredBy, *e.TriggeredByToken)
}

// params are those that the run was given; "" for none.
func (e execution) params() string {
	if text := string(e.Params); text != "null" && text != "{}" {
		return text
	}
	return ""
}

// shard is which part of its fire the run is; "" where that is the whole.
func (e execution) shard() string {
	if e.ShardTotal <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", e.ShardIndex+1, e.ShardTotal)
}

// why is the reason of a state, or what a run waits for.
func (e execution) why() string {
	if e.Reason == "" && e.WaitsFor != "" {
		return "waits for " + e.waits()
	}
	return e.Reason
}

// waits is what a run waits for, and in whose queue; "" where it does not.
func (e execution) waits() string {
	if e.WaitsOn == "" {
		return e.WaitsFor
	}
	return strings.TrimPrefix(e.WaitsFor+" on "+e.WaitsOn, " ")
}

// where is the node that runs it, or ran it, or in whose queue it waits.
func (e execution) where() string {
	if e.Detached {
		return "none: its target works"
	}
	return e.NodeID
}

// outcome is the state with its reason and message, for people.
func (e execution) outcome() string {
	text := e.Status
	if why := e.why(); why != "" {
		text += " (" + why + ")"
	}
	if e.ErrorMessage != "" {
		text += ": " + e.ErrorMessage
	}
	return text
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "execution", Short: "List, cancel and retry runs, and read their logs",
		Example: "  platform-scheduler execution list --status FAILED\n  platform-scheduler execution logs -f 0193…",
	})
	c.AddCommand(listCommand(s), getCommand(s), logsCommand(s), cancelCommand(s), retryCommand(s))
	return []*cobra.Command{c, deadLetterCommand(s)}
}

// listing are the flags of execution list.
type listing struct {
	job, group, status, node, trigger, waitsFor string
	span                                        remote.Span
	pages                                       remote.Pages
}

func listCommand(s *remote.Session) *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: usage.Args(cobra.NoArgs),
		Long: `List runs, newest first. The planned time is in the zone of the job where --job
names one, else in that of this machine; --utc shows all times in UTC.`,
		Example: "  platform-scheduler execution list --job \"settle orders\" --status FAILED\n  platform-scheduler " +
			"execution list --node node-2 --from 09:30 -o json",
		RunE: func(c *cobra.Command, _ []string) error { return l.run(s, c) },
	}
	f := c.Flags()
	f.StringVar(&l.job, "job", "", "only runs of this job, by name or id")
	f.StringVar(&l.group, "group", "", "the group of the job")
	f.StringVar(&l.status, "status", "", "only runs in this state, such as FAILED")
	f.StringVar(&l.node, "node", "", "only runs on this node")
	f.StringVar(&l.trigger, "trigger", "", "only runs with this trigger, such as SCHEDULE, API or RETRY")
	f.StringVar(&l.waitsFor, "waits-for", "",
		"only runs that wait for this: SLOT, NODE, COMMAND, HANDLER, TIME, JOB or GROUP")
	l.span.Flags(c, "the job, or of this machine")
	l.pages.Flags(c, 50)
	return c
}

func (l *listing) run(s *remote.Session, c *cobra.Command) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	jobID, zoneName := "", ""
	if l.job != "" {
		j, err := s.FindJob(c, api, l.job, l.group)
		if err != nil {
			return err
		}
		jobID, zoneName = j.ID, j.Schedule.TimeZone
	}
	from, to, err := l.span.Sent(s, zoneName)
	if err != nil {
		return err
	}
	query := remote.Query("jobId", jobID, "status", strings.ToUpper(l.status), "nodeId", l.node, "trigger",
		strings.ToUpper(l.trigger),
		"waitsFor", strings.ToUpper(l.waitsFor), "from", from, "to", to)
	return remote.ListOf(s, c, api, "/executions", query, l.pages, columns(s, s.Zone(zoneName))...)
}

func columns(s *remote.Session, zone *time.Location) []remote.Column[execution] {
	return []remote.Column[execution]{
		{Name: "id", Of: func(e execution) string { return e.ID }},
		{Name: "job", Of: func(e execution) string { return e.JobName }},
		{Name: "planned", Of: func(e execution) string { return remote.In(zone, e.ScheduledTime) }},
		{Name: "trigger", Of: func(e execution) string { return e.Trigger }},
		{Name: "shard", Of: execution.shard},
		{Name: "status", Of: func(e execution) string { return e.Status }},
		{Name: "reason", Of: execution.why},
		{Name: "node", Of: execution.where},
		{Name: "attempt", Of: func(e execution) string { return fmt.Sprint(e.Attempt) }},
		{Name: "start", Of: func(e execution) string { return s.Moment(e.StartTime) }},
		{Name: "took", Of: func(e execution) string { return remote.Took(e.DurationMs) }},
	}
}

func cancelCommand(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID…", Short: "Cancel runs", Example: "  platform-scheduler execution cancel 0193…",
		Args: usage.Args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return many(s, c, "cancel", args)
			}
			return remote.Send(s, c, "POST", "/executions/"+remote.Segment(args[0])+"/cancel", nil, nil,
				func(json.RawMessage) error {
					return s.Line("asked %s to end", args[0])
				})
		},
	}
}

func retryCommand(s *remote.Session) *cobra.Command {
	var wait Waiting
	c := &cobra.Command{
		Use: "retry ID…", Short: "Run them again as new runs, and print the new ids", Args: usage.Args(cobra.MinimumNArgs(1)),
		Example: "  platform-scheduler execution retry 0193…\n  platform-scheduler execution retry 0193… --wait",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return wait.Start(s, c, "/executions/"+remote.Segment(args[0])+"/retry", nil)
			case wait.Asked():
				return usage.Errorf("--wait and --timestamps follow one run")
			}
			return many(s, c, "retry", args)
		},
	}
	wait.Flags(c)
	return c
}

// many does something to several runs.
func many(s *remote.Session, c *cobra.Command, what string, ids []string) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	return remote.Bulk{Path: "/bulk/executions/" + what, IDs: ids}.Do(s, c, api)
}

// attempt is an attempt of a run.
type attempt struct {
	Attempt      int     `json:"attempt"`
	Status       string  `json:"status"`
	Reason       string  `json:"reason"`
	NodeID       string  `json:"nodeId"`
	StartTime    *string `json:"startTime"`
	EndTime      *string `json:"endTime"`
	ErrorMessage string  `json:"errorMessage"`
	Progress     int     `json:"progress"`
	Result       string  `json:"result"`
}

func getCommand(s *remote.Session) *cobra.Command {
	former := false
	c := &cobra.Command{
		Use: "get ID", Short: "Show a run, and its attempts where there are several",
		Example: "  platform-scheduler execution get 0193…\n  platform-scheduler execution get 0193… -o json",
		Args:    usage.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			path := "/executions/" + remote.Segment(args[0])
			if former {
				api, err := s.Client()
				if err != nil {
					return err
				}
				var last struct{ Execution *execution }
				if err := api.Call(c.Context(), "GET", path+"/last-success", nil, nil, &last); err != nil {
					return err
				}
				if last.Execution == nil {
					return fmt.Errorf("no run of the job before %s is known to have succeeded", args[0])
				}
				path = "/executions/" + remote.Segment(last.Execution.ID)
			}
			return remote.Get(s, c, path, nil, func(e execution) error {
				if err := s.Fields(e.fields(s)); err != nil {
					return err
				}
				return attempts(s, c, path)
			})
		},
	}
	c.Flags().BoolVar(&former, "last-success", false, "show the last run of the job before it that succeeded")
	return c
}

func (e execution) fields(s *remote.Session) []output.Field {
	optional := func(shown bool, format string, args ...any) string {
		if !shown {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	return []output.Field{
		{Name: "Id", Value: e.ID},
		{Name: "Job", Value: fmt.Sprintf("%s, version %d (%s)", e.JobName, e.JobVersion, e.JobID)},
		{Name: "Status", Value: e.Status},
		{Name: "Reason", Value: e.Reason},
		{Name: "Message", Value: e.ErrorMessage},
		{Name: "Waits for", Value: e.waits()},
		{Name: "Planned", Value: s.Moment(e.ScheduledTime)},
		{Name: "Planned to", Value: optional(e.SkipCount > 0, "%s, %d fires", s.Moment(e.SkipTo), e.SkipCount)},
		{Name: "Trigger", Value: e.Trigger},
		{Name: "Asked by", Value: e.by()},
		{Name: "Params", Value: e.params()},
		{Name: "Repeats", Value: remote.Deref(e.RetryOf)},
		{Name: "Shard", Value: e.shard()},
		{Name: "Priority", Value: fmt.Sprint(e.Priority)},
		{Name: "Attempt", Value: optional(e.Attempt > 0, "%d", e.Attempt)},
		{Name: "Node", Value: e.where()},
		{Name: "Deadline", Value: s.Moment(e.Deadline)},
		{Name: "Started", Value: s.Moment(e.StartTime)},
		{Name: "Late", Value: remote.Took(e.LatenessMs)},
		{Name: "Ended", Value: s.Moment(e.EndTime)},
		{Name: "Took", Value: remote.Took(e.DurationMs)},
		{Name: "Progress", Value: optional(e.Progress > 0, "%d %%", e.Progress)},
		{Name: "Checkpoint", Value: e.Checkpoint},
		{Name: "Result", Value: e.Result},
	}
}

func attempts(s *remote.Session, c *cobra.Command, path string) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	var page struct{ Items []attempt }
	if err := api.Call(c.Context(), "GET", path+"/attempts", nil, nil, &page); err != nil || len(page.Items) < 2 {
		return err
	}
	if err := s.Line("\nAttempts:"); err != nil {
		return err
	}
	var rows [][]string
	for _, a := range page.Items {
		rows = append(rows, []string{
			fmt.Sprint(a.Attempt), a.Status, a.Reason, a.NodeID, s.Moment(a.StartTime), s.Moment(a.EndTime),
			fmt.Sprintf("%d %%", a.Progress), a.ErrorMessage, a.Result,
		})
	}
	return s.Rows([]string{"ATTEMPT", "STATUS", "REASON", "NODE", "START", "END", "PROGRESS", "MESSAGE", "RESULT"}, rows)
}
