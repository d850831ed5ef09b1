// Package alerts holds the commands about alerts and about what people define for them.
package alerts

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// alert is what the commands show of an alert.
type alert struct {
	ID          string            `json:"id"`
	AlertType   string            `json:"alertType"`
	AlertLevel  string            `json:"alertLevel"`
	Status      string            `json:"status"`
	RuleID      string            `json:"ruleId"`
	Group       *string           `json:"group"`
	JobID       *string           `json:"jobId"`
	JobName     *string           `json:"jobName"`
	LastRun     *string           `json:"lastExecutionId"`
	NodeID      *string           `json:"nodeId"`
	Content     string            `json:"content"`
	Labels      map[string]string `json:"labels"`
	Count       int               `json:"count"`
	StartTime   *string           `json:"startTime"`
	LastTime    *string           `json:"lastTime"`
	EndTime     *string           `json:"endTime"`
	Resolution  *string           `json:"resolution"`
	ResolvedBy  *string           `json:"resolvedBy"`
	AckedBy     *string           `json:"ackedBy"`
	AckTime     *string           `json:"ackTime"`
	Comment     *string           `json:"comment"`
	CreateTime  *string           `json:"createTime"`
	Deliveries  []delivery        `json:"deliveries"`
	Actions     []action          `json:"actions"`
	PendingFrom *string           `json:"pendingSince"`
}

// delivery is a message about an alert, with an attempt to send it.
type delivery struct {
	ChannelID   string  `json:"channelId"`
	ChannelName *string `json:"channelName"`
	State       string  `json:"state"`
	Why         *string `json:"why"`
	Attempt     int     `json:"attempt"`
	Result      *string `json:"result"`
	Code        *string `json:"code"`
	Message     *string `json:"message"`
	StartTime   *string `json:"startTime"`
	CreateTime  *string `json:"createTime"`
}

// action is one action of a rule for an alert.
type action struct {
	Kind   string  `json:"kind"`
	Target *string `json:"target"`
	State  string  `json:"state"`
	Code   *string `json:"code"`
	Result *string `json:"result"`
}

// about is what an alert is about.
func (a alert) about() string {
	switch {
	case a.JobName != nil && a.Group != nil:
		return *a.Group + "/" + *a.JobName
	case a.JobID != nil:
		return *a.JobID
	case a.NodeID != nil:
		return "node " + *a.NodeID
	}
	return "the cluster"
}

// state is the state, with who has changed it.
func (a alert) state() string {
	switch {
	case a.Status == "ACKNOWLEDGED":
		return a.Status + " by " + remote.Deref(a.AckedBy)
	case a.Resolution != nil && a.ResolvedBy != nil:
		return a.Status + " by " + *a.ResolvedBy
	case a.Resolution != nil:
		return a.Status + " (" + *a.Resolution + ")"
	}
	return a.Status
}

// since is when it began to fire, or to be pending.
func (a alert) since() *string {
	if a.StartTime != nil {
		return a.StartTime
	}
	return a.PendingFrom
}

func (a alert) show(s *remote.Session) error {
	err := s.Fields([]output.Field{
		{Name: "Id", Value: a.ID},
		{Name: "Alert", Value: a.AlertType + ", " + a.AlertLevel},
		{Name: "State", Value: a.state()},
		{Name: "About", Value: a.about()},
		{Name: "Content", Value: a.Content},
		{Name: "Rule", Value: a.RuleID},
		{Name: "Labels", Value: labelText(a.Labels)},
		{Name: "Evidence", Value: fmt.Sprint(a.Count)},
		{Name: "Latest run", Value: remote.Deref(a.LastRun)},
		{Name: "Since", Value: s.Moment(a.since())},
		{Name: "Latest", Value: s.Moment(a.LastTime)},
		{Name: "Until", Value: s.Moment(a.EndTime)},
		{Name: "Acknowledged", Value: s.Moment(a.AckTime)},
		{Name: "Comment", Value: remote.Deref(a.Comment)},
	})
	if err != nil {
		return err
	}
	if len(a.Deliveries) > 0 {
		rows := make([][]string, len(a.Deliveries))
		for i, d := range a.Deliveries {
			rows[i] = []string{d.channel(), d.State, fmt.Sprint(d.Attempt), remote.Deref(d.Result), s.Moment(d.when()), d.why()}
		}
		if err := table(s, []string{"CHANNEL", "MESSAGE", "ATTEMPT", "RESULT", "TIME", "WHY"}, rows); err != nil {
			return err
		}
	}
	if len(a.Actions) == 0 {
		return nil
	}
	rows := make([][]string, len(a.Actions))
	for i, d := range a.Actions {
		rows[i] = []string{d.Kind, remote.Deref(d.Target), d.State, remote.Deref(d.Code), remote.Deref(d.Result)}
	}
	return table(s, []string{"ACTION", "TARGET", "STATE", "CODE", "RESULT"}, rows)
}

// table prints rows below what stands there.
func table(s *remote.Session, header []string, rows [][]string) error {
	if err := s.Line(""); err != nil {
		return err
	}
	return s.Rows(header, rows)
}

func (d delivery) channel() string {
	if d.ChannelName != nil {
		return *d.ChannelName
	}
	return d.ChannelID
}

func (d delivery) when() *string {
	if d.StartTime != nil {
		return d.StartTime
	}
	return d.CreateTime
}

// why says what went wrong, or what held the message back.
func (d delivery) why() string {
	var parts []string
	for _, part := range []*string{d.Code, d.Message} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	if len(parts) == 0 {
		return remote.Deref(d.Why)
	}
	return strings.Join(parts, ": ")
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return []*cobra.Command{
		alertCommand(s), ruleCommand(s), silenceCommand(s), routeCommand(s), channelCommand(s), templateCommand(s),
		teamCommand(s), contactCommand(s), onCallCommand(s),
	}
}

func alertCommand(s *remote.Session) *cobra.Command {
	c := usage.Parent(&cobra.Command{
		Use: "alert", Short: "List, acknowledge and resolve alerts",
		Example: "  platform-scheduler alert list\n  platform-scheduler alert ack 0193… --comment \"the disk is full\"",
	})
	c.AddCommand(alertList(s), alertShow(s),
		alertChange(s, "ack", "Say that you take care of alerts", "acknowledged",
			"It stops repeats and escalation; an alert still resolves by itself."),
		alertChange(s, "resolve", "End alerts by hand", "resolved",
			"The same evidence never opens another alert. What is a state, such as a node that\nis down, is quiet until it is "+
				"well and wrong again."))
	return c
}

// listing are the flags of alert list.
type listing struct {
	all                                          bool
	status, level, kind, rule, job, group, label string
	node                                         string
	span                                         remote.Span
	pages                                        remote.Pages
}

func alertList(s *remote.Session) *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use: "list", Short: "List alerts, newest first", Args: usage.Args(cobra.NoArgs),
		Long: "List alerts, newest first: those that are open, or with --all or --status others,\ntoo.",
		Example: "  platform-scheduler alert list --level CRITICAL\n  platform-scheduler alert list --all --job \"settle " +
			"orders\" --from 09:30 -o json",
		RunE: func(c *cobra.Command, _ []string) error { return l.run(s, c) },
	}
	f := c.Flags()
	f.BoolVar(&l.all, "all", false, "also those that are over")
	f.StringVar(&l.status, "status", "", "only these states, such as FIRING,ACKNOWLEDGED")
	f.StringVar(&l.level, "level", "", "only this level: INFO, WARNING or CRITICAL")
	f.StringVar(&l.kind, "type", "", "only this type, such as JOB_FAILED")
	f.StringVar(&l.rule, "rule", "", "only those of this rule, by name or id")
	f.StringVar(&l.job, "job", "", "only those about this job, by name or id")
	f.StringVar(&l.group, "group", "", "only those about jobs of this group")
	f.StringVar(&l.node, "node", "", "only those about this node")
	f.StringVar(&l.label, "labels", "", "only those with these labels, such as team=billing,tier=1")
	l.span.Flags(c, "this machine")
	l.pages.Flags(c, 50)
	return c
}

func (l *listing) run(s *remote.Session, c *cobra.Command) error {
	api, err := s.Client()
	if err != nil {
		return err
	}
	if l.status == "" && !l.all {
		l.status = "PENDING,FIRING,ACKNOWLEDGED"
	}
	from, to, err := l.span.Sent(s, "")
	if err != nil {
		return err
	}
	query := remote.Query("status", l.status, "level", l.level, "type", l.kind, "group", l.group, "nodeId", l.node,
		"labels", l.label, "from", from, "to", to)
	if l.job != "" {
		job, err := s.FindJob(c, api, l.job, l.group)
		if err != nil {
			return err
		}
		query.Set("jobId", job.ID)
	}
	if l.rule != "" {
		rule, err := find(c, api, ruleKind, l.rule)
		if err != nil {
			return err
		}
		query.Set("ruleId", rule.ID)
	}
	return remote.ListOf(s, c, api, "/alerts", query, l.pages,
		remote.Column[alert]{Name: "id", Of: func(a alert) string { return a.ID }},
		remote.Column[alert]{Name: "level", Of: func(a alert) string { return a.AlertLevel }},
		remote.Column[alert]{Name: "type", Of: func(a alert) string { return a.AlertType }},
		remote.Column[alert]{Name: "state", Of: alert.state},
		remote.Column[alert]{Name: "about", Of: alert.about},
		remote.Column[alert]{Name: "count", Of: func(a alert) string { return fmt.Sprint(a.Count) }},
		remote.Column[alert]{Name: "since", Of: func(a alert) string { return s.Moment(a.since()) }},
		remote.Column[alert]{Name: "latest", Of: func(a alert) string { return s.Moment(a.LastTime) }},
	)
}

func alertShow(s *remote.Session) *cobra.Command {
	return &cobra.Command{
		Use: "get ALERT", Aliases: []string{"show"}, Short: "Show an alert, its messages and what its rule did",
		Args: usage.Args(cobra.ExactArgs(1)), Example: "  platform-scheduler alert get 0193…",
		RunE: func(c *cobra.Command, args []string) error {
			return remote.Get(s, c, "/alerts/"+remote.Segment(args[0]), nil, func(a alert) error { return a.show(s) })
		},
	}
}

func alertChange(s *remote.Session, verb, short, done, long string) *cobra.Command {
	var comment string
	c := &cobra.Command{
		Use: verb + " ALERT…", Short: short, Long: short + ".\n\n" + long, Args: usage.Args(cobra.MinimumNArgs(1)),
		Example: "  platform-scheduler alert " + verb + " 0193… --comment \"the disk is full\"",
		RunE: func(c *cobra.Command, args []string) error {
			for _, id := range args {
				err := remote.Send(s, c, "POST", "/alerts/"+remote.Segment(id)+"/"+verb, nil,
					map[string]any{"comment": comment}, func(a alert) error {
						return s.Line("%s the alert %s about %s", done, a.AlertType, a.about())
					})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&comment, "comment", "", "what is the matter, for others")
	return c
}

// day is how far back a dry run looks if nothing else is said.
const day = 24 * time.Hour
