// Package alerts holds the commands about alerts and about what people define for them.
package alerts

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// words are what an alert, and a message about one, is in words.
var words = remote.Words{
	"about": func(_ *remote.Call, o remote.Object) string {
		switch {
		case o["jobName"] != nil && o["group"] != nil:
			return o.Text("group") + "/" + o.Text("jobName")
		case o["jobId"] != nil:
			return o.Text("jobId")
		case o["nodeId"] != nil:
			return "node " + o.Text("nodeId")
		}
		return "the cluster"
	},
	// The state, with who has changed it.
	"state": func(_ *remote.Call, o remote.Object) string {
		text := o.Text("status")
		switch {
		case text == "ACKNOWLEDGED":
			text += " by " + o.Text("ackedBy")
		case o["resolution"] != nil && o["resolvedBy"] != nil:
			text += " by " + o.Text("resolvedBy")
		case o["resolution"] != nil:
			text += " (" + o.Text("resolution") + ")"
		}
		return text
	},
	"type": remote.Said("{alertType}, {alertLevel}"),
	// The state of a message, and whether it named the alert.
	"message": remote.Said("{state|text}[, {naming|lower}]"),
	// The mistake, or the cause that held the message back.
	"why": func(_ *remote.Call, o remote.Object) string {
		if o["code"] == nil && o["message"] == nil {
			return o.Text("why")
		}
		return strings.TrimSuffix(strings.TrimPrefix(o.Text("code")+": "+o.Text("message"), ": "), ": ")
	},
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	all := []*cobra.Command{s.Parent(remote.Verb{
		Use: "alert", Short: "List, acknowledge and resolve alerts", Words: words,
		Example: "alert list\nalert ack 0193… --comment \"the disk is full\"",
	}, list, remote.Verb{
		Use: "get ALERT", Aliases: []string{"show"}, Short: "Show an alert, its messages and what its rule did",
		Example: "alert get 0193…", Path: "/alerts/{0}", Show: show,
	}, change("ack", "Say that you take care of alerts", "acknowledged",
		"It stops repeats and escalation; an alert still resolves by itself."),
		change("resolve", "End alerts by hand", "resolved",
			"The same evidence never opens another alert. What is a state, such as a node that\nis down, is quiet until it is "+
				"well and wrong again."))}
	more := map[string][]remote.Verb{
		"rule": {ruleValidate, ruleDryRun}, "template": {templatePreview},
		"channel": {channelKind.onOne("test", channelTest)},
	}
	for _, k := range kinds {
		of := remote.Verb{Use: k.word, Short: k.short, Words: k.words()}
		of.Example = cmp.Or(k.example, k.word+" list\n"+k.word+" create -f "+k.word+".yaml")
		all = append(all, s.Parent(of, append(k.verbs(), more[k.word]...)...))
	}
	return all
}

func show(k *remote.Call, o remote.Object) {
	k.Describe("Id=id, Alert=type, State=state, About=about, Content=content, Rule=ruleId, "+
		"Labels=labels|comma, Evidence=count, Latest run=lastExecutionId, "+
		"Since=startTime/pendingSince|moment, Latest=lastTime|moment, Until=endTime|moment, "+
		"Acknowledged=ackTime|moment, Comment=comment", o)
	k.Below("channel=channelName/channelId, message, attempt, result, "+
		"time=startTime/createTime|moment, why", o.List("deliveries"))
	k.Words = nil
	k.Below("action=kind, target, state, code, result", o.List("actions"))
}

var list = remote.Verb{
	Use: "list", Short: "List alerts, newest first",
	Long:    "List alerts, newest first: those that are open, or with --all or --status others,\ntoo.",
	Example: "alert list --level CRITICAL\nalert list --all --job \"settle orders\" --from 09:30 -o json",
	Flags: []remote.Flag{
		{Name: "level", Help: "only this level: INFO, WARNING or CRITICAL"},
		{Name: "type", Help: "only this type, such as JOB_FAILED"},
		{Name: "node", As: "nodeId", Help: "only those about this node"},
		{Name: "labels", Help: "only those with these labels, such as team=billing,tier=1"},
		{Name: "status", Help: "only these states, such as FIRING,ACKNOWLEDGED"},
		{Name: "group", Help: "only those about jobs of this group"},
		{Name: "job", As: "jobId", To: remote.JobID, Help: "only those about this job, by name or id"},
		{Name: "rule", As: "ruleId", To: idOf(ruleKind), Help: "only those of this rule, by name or id"},
	},
	Own:  []remote.Flag{{Name: "all", Default: false, Help: "also those that are over"}},
	Span: "this machine", Paged: true, Limit: 50, Path: "/alerts",
	Query: func(k *remote.Call, q url.Values) error {
		if !q.Has("status") && !k.On("all") {
			q.Set("status", "PENDING,FIRING,ACKNOWLEDGED")
		}
		return nil
	},
	Columns: "id, level=alertLevel, type=alertType, state, about, count, " +
		"since=startTime/pendingSince|moment, latest=lastTime|moment",
}

func change(verb, short, done, long string) remote.Verb {
	return remote.Verb{
		Use: verb + " ALERT…", Short: short, Long: short + ".\n\n" + long,
		Example: "alert " + verb + " 0193… --comment \"the disk is full\"",
		Flags:   []remote.Flag{{Name: "comment", Help: "what is the matter, for others"}}, Every: true,
		Method: "POST", Path: "/alerts/{0}/" + verb, Done: done + " the alert {alertType} about {about}",
		Body: func(k *remote.Call, _ map[string]any) (any, error) {
			return map[string]any{"comment": k.Given("comment")}, nil
		},
	}
}
