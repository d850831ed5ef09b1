package runs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// flowWords are what a workflow run is in words.
var flowWords = remote.Words{
	"definition": remote.Said("{group}/{workflow}, version {version} ({workflowId})"),
	// How many of the steps are where.
	"steps": func(_ *remote.Call, o remote.Object) string {
		var parts []string
		for _, name := range []string{"success", "failed", "skipped", "live", "held", "waiting"} {
			if n := o.Int("counts." + name); n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, name))
			}
		}
		return strings.Join(parts, ", ")
	},
	// A map with what became of its items.
	"items": func(_ *remote.Call, o remote.Object) string {
		if !o.Has("items") {
			return ""
		}
		return fmt.Sprintf("%d of %d succeeded, %d failed, %d live", o.Int("items.success"), o.Int("items.total"),
			o.Int("items.failed"), o.Int("items.live"))
	},
	"why": func(_ *remote.Call, o remote.Object) string { return why(o) },
	// A step that failed may wait for a person.
	"stands": remote.If("held", "{state}, held", "{state}"),
}

// Workflows is the command of workflow runs, which stands below that of workflows.
func Workflows(s *remote.Session) *cobra.Command {
	c := s.Parent(remote.Verb{
		Use: "runs", Short: "List, explain and steer workflow runs", Words: flowWords,
		Example: "workflow runs list --phase OPEN\nworkflow runs step repeat 0193… load",
	}, flowList, flowGet, flowSteps, flowWhy,
		flowVerb("cancel", "Cancel a workflow run; steps that run last run all the same", "asked {0} to end"),
		flowVerb("pause", "Let a workflow run decide nothing until it is resumed", "paused {0}"),
		flowVerb("resume", "Let a paused workflow run go on", "resumed {0}"),
		flowRetry(),
	)
	c.AddCommand(s.Parent(remote.Verb{
		Use: "step", Short: "Cancel, skip or repeat a step, or call it a success", Words: flowWords,
		Example: "workflow runs step skip 0193… load\nworkflow runs step cancel 0193… score[7]",
	},
		stepVerb("cancel", "Stop a step that is live; STEP[17] is one item", "asked {1} to end"),
		stepVerb("skip", "Skip a step that waits, or is held", "skipped {1}"),
		stepVerb("repeat", "Run a held step again; of a map, the items that failed", "{1} runs again"),
		stepVerb("succeed", "Call a held step a success", "{1} is a success now"),
	))
	return c
}

func flowVerb(name, short, done string) remote.Verb {
	return remote.Verb{
		Use: name + " RUN", Short: short, Example: "workflow runs " + name + " 0193…", Method: "POST",
		Path: "/workflow-runs/{0}/" + name, Done: done,
	}
}

func stepVerb(name, short, done string) remote.Verb {
	return remote.Verb{
		Use: name + " RUN STEP", Short: short, Example: "workflow runs step " + name + " 0193… load", Method: "POST",
		Path: "/workflow-runs/{0}/steps/{1}/" + name, Done: done,
	}
}

var flowList = remote.Verb{
	Use: "list", Short: "List workflow runs, newest first",
	Example: "workflow runs list --phase OPEN,PAUSED\nworkflow runs list --workflow settlement --status FAILED",
	Flags: []remote.Flag{
		{Name: "workflow", As: "workflowId", To: chosenJob, Help: "only runs of this workflow, by name or id"},
		{Name: "group", Help: "only runs of workflows of this group"},
		{Name: "phase", To: remote.Upper, Help: "only runs in these phases: OPEN, PAUSED, CANCELLING, CLOSED"},
		{Name: "status", To: remote.Upper, Help: "only runs in this state, such as FAILED"},
	},
	Span: "the workflow, or of this machine", Paged: true, Limit: 50, Path: "/workflow-runs",
	Find: func(k *remote.Call) error {
		if k.Given("workflow") == "" {
			return nil
		}
		return k.ChooseJob(k.Given("workflow"), k.Given("group"))
	},
	Columns: "id, workflow, planned=scheduledTime|zoned, trigger, phase, status, reason, steps, start=startTime|moment, " +
		"end=endTime|moment",
	Words: remote.Words{"steps": flowWords["steps"]},
}

var flowGet = remote.Verb{
	Use: "get RUN", Short: "Show a workflow run, and where each of its steps stands",
	Example: "workflow runs get 0193…\nworkflow runs get 0193… -o json", Path: "/workflow-runs/{0}",
	Show: func(k *remote.Call, o remote.Object) {
		if o["params"] = string(k.Written("params")); o["params"] == "null" || o["params"] == "{}" {
			o["params"] = nil
		}
		steps := o.List("steps")
		k.Describe("Id=id, Workflow=definition, Phase=phase, Status=status, Reason=reason, Message=errorMessage, "+
			"Problem=problem, Planned=scheduledTime|moment, Trigger=trigger, Repeats=retryOf, "+
			"Params=params, Started=startTime|moment, Ended=endTime|moment, Goes on=wakeTime|moment, Steps=steps", o)
		k.Line("\nSteps:")
		k.Table("step, kind, state=stands, reason, items, execution=executionId, start=startTime|moment, end=endTime|moment",
			steps)
	},
}

var flowSteps = remote.Verb{
	Use: "steps RUN", Short: "List the executions of a workflow run: its steps, their repetitions and items",
	Example: "workflow runs steps 0193… --step score --status FAILED",
	Flags: []remote.Flag{
		{Name: "step", Help: "only this step, or this item, such as score[7]"},
		{Name: "status", To: remote.Upper, Help: "only executions in this state, such as FAILED"},
	},
	Paged: true, Limit: 200, Path: "/workflow-runs/{0}/steps",
	Columns: "step, status, reason=why, execution=executionId, node=nodeId, attempt, start=startTime|moment, " +
		"end=endTime|moment, message=errorMessage",
}

var flowWhy = remote.Verb{
	Use: "why RUN STEP", Short: "Explain why a step stands where it stands", Example: "workflow runs why 0193… publish",
	Path: "/workflow-runs/{0}/steps/{1}/why",
	Show: func(k *remote.Call, o remote.Object) {
		k.Say("{explanation}[\n{message}]", o)
		k.Each("- {text}", o.List("facts"))
	},
}
