package runs

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// approvalWords are what an approval is in words.
var approvalWords = remote.Words{
	"step of": remote.Said("{workflow}/{step}"),
	"count":   remote.If("approved", "{approved} of {need}", "0 of {need}"),
	"state":   remote.If("reason", "{status} ({reason})", "{status}"),
	"yours":   remote.If("mayVote", "yes", ""),
	"said": func(k *remote.Call, o remote.Object) string {
		var lines []string
		for _, v := range o.List("votes") {
			lines = append(lines, k.Sentence("{user}: {decision}, {time|moment}[: {comment}]", v))
		}
		return strings.Join(lines, "\n")
	},
}

var approvals = []remote.Verb{
	{
		Use: "list", Short: "List approvals, newest first; those that are open unless --status says otherwise",
		Example: "approval list --mine\napproval list --status decided -o json",
		Flags: []remote.Flag{
			{Name: "mine", Default: false, Help: "those alone in which you have a vote"},
			{Name: "status", Default: "OPEN", To: remote.Upper, Help: "in this `STATE`: open or decided"},
		},
		Path: "/approvals", Paged: true, Limit: 50,
		Columns: "id=executionId, step=step of, group, status=state, approved=count, you may vote=yours, " +
			"until=timeoutTime|moment, text",
	},
	{
		Use: "get ID", Short: "Show an approval, by the id of the execution of its step", Example: "approval get 0193…",
		Path: "/approvals/{0}",
		Fields: "Id=executionId, Step=step of, Group=group, Workflow run=runId, Text=text, Status=state, Approved=count, " +
			"Votes=said, You may vote=yours, Opened=openedTime|moment, Until=timeoutTime|moment, At that time=onTimeout, " +
			"Decided=decidedTime|moment",
	},
	vote("approve", "APPROVE", "Approve; as many as it needs let the workflow run go on"),
	vote("reject", "REJECT", "Reject; one that rejects decides"),
}

// vote is the verb that casts one.
func vote(verb, decision, short string) remote.Verb {
	return remote.Verb{
		Use: verb + " ID", Short: short, Example: "approval " + verb + " 0193… --comment \"looked at the prices\"",
		Flags:  []remote.Flag{{Name: "comment", Help: "a `TEXT` for the others, and for the audit log"}},
		Method: "POST", Path: "/approvals/{0}",
		Body: func(_ *remote.Call, params map[string]any) (any, error) {
			params["decision"] = decision
			return params, nil
		},
		Done: "{step of}: {count} approve; it is {state}",
	}
}
