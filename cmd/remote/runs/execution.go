// Package runs holds the commands about runs: executions, their logs, and dead letters.
package runs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// words are what a run is in words.
var words = remote.Words{
	"why": func(_ *remote.Call, o remote.Object) string { return why(o) },
	// A run waits for something, and in somebody's queue.
	"waits": func(_ *remote.Call, o remote.Object) string { return waits(o) },
	"by":    remote.Said("{triggeredBy}[, with the token {triggeredByToken}]"),
	// Which part of its fire the run is; nothing where that is the whole.
	"shard": func(_ *remote.Call, o remote.Object) string {
		if o.Int("shardTotal") <= 1 {
			return ""
		}
		return fmt.Sprintf("%d/%d", o.Int("shardIndex")+1, o.Int("shardTotal"))
	},
	// The node that runs it, or ran it, or in whose queue it waits.
	"where": remote.If("detached", "none: its target works", "{nodeId}"),
	"job":   remote.Said("{jobName}, version {jobVersion} ({jobId})"),
	"planned before": func(k *remote.Call, o remote.Object) string {
		if o.Int("skipCount") == 0 {
			return ""
		}
		return k.Sentence("{skipTo|moment}, {skipCount} (fire|fires)", o)
	},
	// The runs that its end has started.
	"begun": func(k *remote.Call, o remote.Object) string {
		var lines []string
		for _, s := range o.List("started") {
			lines = append(lines, k.Sentence("{jobName}: {id}, {status}", s))
		}
		return strings.Join(lines, "\n")
	},
	"progressed": remote.Said("[{progress|some} %]"),
	"used":       func(_ *remote.Call, o remote.Object) string { return used(o) },
	"percent":    remote.If("progress", "{progress} %", "0 %"),
}

// why is the reason of a state, or what a run waits for.
func why(o remote.Object) string {
	if !o.Has("reason") && o.Has("waitsFor") {
		return "waits for " + waits(o)
	}
	return o.Text("reason")
}

func waits(o remote.Object) string {
	return strings.TrimPrefix(strings.TrimSuffix(o.Text("waitsFor")+" on "+o.Text("waitsOn"), " on "), " ")
}

// used is what a command took of its node; "" where nothing is known.
func used(o remote.Object) string {
	if !o.Has("usage") {
		return ""
	}
	return fmt.Sprintf("CPU %s, memory %.1f MiB", o.Took("usage.cpuMs"), float64(o.Int("usage.peakKb"))/1024)
}

// outcome is the state with its reason and message, for people.
func outcome(o remote.Object) string {
	text := o.Text("status")
	if why := why(o); why != "" {
		text += " (" + why + ")"
	}
	if o.Has("errorMessage") {
		text += ": " + o.Text("errorMessage")
	}
	return text
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	return []*cobra.Command{s.Parent(remote.Verb{
		Use: "execution", Short: "List, cancel and retry runs, and read their logs", Words: words,
		Example: "execution list --status FAILED\nexecution logs -f 0193…",
	}, list, get, logs, cancel, Starting(retry)), s.Parent(remote.Verb{
		Use: "dead-letter", Short: "List, replay and discard runs that used up their retries",
		Example: "dead-letter causes\ndead-letter replay --job \"settle orders\" --reason HTTP_STATUS",
	}, letters...), s.Parent(remote.Verb{
		Use: "approval", Short: "List approvals of workflow runs, and approve or reject", Words: approvalWords,
		Example: "approval list --mine\napproval approve 0193… --comment \"looked at the prices\"",
	}, approvals...)}
}

var list = remote.Verb{
	Use: "list", Short: "List runs, newest first",
	Long: `List runs, newest first. The planned time is in the zone of the job where --job
names one, else in that of this machine; --utc shows all times in UTC.`,
	Example: "execution list --job \"settle orders\" --status FAILED\nexecution list --node node-2 --from 09:30 -o json",
	Flags: []remote.Flag{
		{Name: "job", As: "jobId", To: chosenJob, Help: "only runs of this job, by name or id"},
		{Name: "group", Help: "only runs of jobs of this group"},
		{Name: "status", To: remote.Upper, Help: "only runs in this state, such as FAILED"},
		{Name: "node", As: "nodeId", Help: "only runs on this node"},
		{Name: "trigger", To: remote.Upper, Help: "only runs with this trigger, such as SCHEDULE, API or RETRY"},
		{
			Name: "waits-for", As: "waitsFor", To: remote.Upper,
			Help: "only runs that wait for this: SLOT, NODE, COMMAND, HANDLER, TIME, JOB, GROUP or APPROVAL",
		},
	},
	Span: "the job, or of this machine", Paged: true, Limit: 50, Path: "/executions",
	Find: func(k *remote.Call) error {
		if k.Given("job") == "" {
			return nil
		}
		return k.ChooseJob(k.Given("job"), k.Given("group"))
	},
	Columns: "id, job=jobName, planned=scheduledTime|zoned, trigger, shard, status, reason=why, node=where, attempt, " +
		"start=startTime|moment, took=durationMs|took",
}

// chosenJob is the id of the job that --job named, whose zone has to be known before.
func chosenJob(k *remote.Call, _ remote.Input) (any, error) { return k.ID, nil }

var cancel = remote.Verb{
	Use: "cancel ID…", Short: "Cancel runs", Example: "execution cancel 0193…",
	Several: "/bulk/executions/cancel",
	Method:  "POST", Path: "/executions/{0}/cancel", Done: "asked {0} to end",
}

var get = remote.Verb{
	Use: "get ID", Short: "Show a run, and its attempts where there are several",
	Example: "execution get 0193…\nexecution get 0193… -o json",
	Own: []remote.Flag{
		{Name: "last-success", Default: false, Help: "show the last run of the job before it that succeeded"},
	},
	Find: func(k *remote.Call) error {
		k.ID = k.Args[0]
		if !k.On("last-success") {
			return nil
		}
		last, err := k.Get(k.Path("/executions/{0}/last-success"), nil)
		if k.ID = last.Text("execution.id"); err == nil && k.ID == "" {
			err = fmt.Errorf("no run of the job before %s is known to have succeeded", k.Args[0])
		}
		return err
	},
	Path: "/executions/{id}",
	Then: func(k *remote.Call, o remote.Object) error {
		// Parameters are shown as they were given.
		if o["params"] = string(k.Written("params")); o["params"] == "null" || o["params"] == "{}" {
			o["params"] = nil
		}
		k.Describe(described, o)
		return attempts(k)
	},
}

// described are the fields of execution get.
const described = "Id=id, Job=job, Status=status, Reason=reason, Message=errorMessage, Waits for=waits, " +
	"Planned=scheduledTime|moment, Planned before=planned before, Trigger=trigger, " +
	"Started by=startedBy, Asked by=by, Params=params, " +
	"Repeats=retryOf, Shard=shard, Priority=priority, Attempt=attempt|some, Node=where, Deadline=deadline|moment, " +
	"Started=startTime|moment, Late=latenessMs|took, Ended=endTime|moment, Took=durationMs|took, Used=used, " +
	"Progress=progressed, Has started=begun, Checkpoint=checkpoint, Result=result"

func attempts(k *remote.Call) error {
	page, err := k.Get(k.Path("/executions/{id}/attempts"), nil)
	if err != nil || len(page.List("items")) < 2 {
		return err
	}
	k.Line("\nAttempts:")
	k.Table("attempt, status, reason, node=nodeId, start=startTime|moment, end=endTime|moment, used, progress=percent, "+
		"message=errorMessage, result", page.List("items"))
	return nil
}
