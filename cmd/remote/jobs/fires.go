package jobs

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// outcomes are what a line of the fire ledger says.
var outcomes = remote.Words{
	// How many fires the line stands for; nothing for one.
	"fires": remote.If("countAtLeast", "[{count}+]", "{count}"),
	// The reason of an outcome, or what a fire waits for.
	"why": remote.If("reason", "{reason}", "[waits for {waitsFor}]"),
	// Fires that were not run were not late.
	"late": func(_ *remote.Call, o remote.Object) string {
		switch o.Text("outcome") {
		case "PLANNED", "WAITING", "SKIPPED":
			return ""
		}
		return o.Took("latenessMs")
	},
}

var fires = remote.Verb{
	Use: "fires", Short: "Show the outcome of each fire, newest first",
	Long: `Show the fire ledger: what became of each planned fire, newest first, in the zone
of the job (with --utc in UTC). Without --from it shows the 24 hours before now,
or before --to; without --to also the nearest fires of the hour to come.`,
	Example: "job fires \"settle orders\" --from 03:00\njob fires \"settle orders\" --from 2026-11-01 --to 2026-11-08 " +
		"--limit 0 -o json",
	Span: "the job", Paged: true, Limit: 50, Path: "/jobs/{id}/fires", Words: outcomes,
	Columns: "planned=scheduledTime|zoned, before=rangeEnd|zoned, fires, outcome, reason=why, late, " +
		"runs=executionIds|spaced, replays|spaced, started by=startedBy, message",
}

var why = remote.Verb{
	Use: "why JOB [TIME]", Short: "Explain why a job did, or did not, fire at a time",
	Long: `Say what became of the fire of a job at a moment, and why: it was run, was skipped,
waits, is still to come, or was never planned. The answer is made of the ledger, the
definition of that time, pauses, limits, nodes and alerts. Without a zone the time is
taken in that of the job; without a time it is that of the latest fire.`,
	Example: "job why \"settle orders\" --at 03:00\njob why \"settle orders\" 2026-11-14T03:00:00Z",
	Flags: []remote.Flag{{
		Name: "at", To: remote.WallMoment,
		Help: "the moment, as `TIME` such as 2026-11-14T00:00:00Z, \"2026-11-14 09:30\" or 09:30",
	}},
	Check: func(k *remote.Call) error {
		if len(k.Args) == 2 && k.Given("at") != "" {
			return usage.Errorf("give the time once: as TIME or as --at")
		}
		return nil
	},
	Path: "/jobs/{id}/why",
	Query: func(k *remote.Call, q url.Values) error {
		if k.Location() == time.UTC {
			q.Set("timeZone", "UTC")
		}
		if len(k.Args) < 2 {
			return nil
		}
		at, err := remote.WallMoment(k, remote.Input{Flag: "TIME", Text: k.Args[1]})
		if text, ok := at.(string); ok && text != "" {
			q.Set("at", text)
		}
		return err
	},
	Show: func(k *remote.Call, o remote.Object) {
		k.Say("{explanation}[\n{message}]", o)
		k.Each("- {text}", o.List("facts"))
	},
}

// graph shows the steps of a stored workflow; the command workflow graph draws one of a file.
var graph = remote.Verb{
	Use: "graph", Short: "Show the steps of a workflow and what each needs",
	Example: "job graph \"settle orders\"\njob graph \"settle orders\" --version 3",
	Flags:   []remote.Flag{{Name: "version", Help: "a former version; the current one without it"}},
	Path:    "/jobs/{id}/graph", Words: remote.Words{"needs": func(_ *remote.Call, o remote.Object) string {
		var needs []string
		for _, n := range o.List("needs") {
			needs = append(needs, n.Text("step"))
		}
		return strings.Join(needs, ", ")
	}},
	Show: func(k *remote.Call, o remote.Object) {
		k.Table("step=name, kind, needs, join, when, job=job.name", o.List("steps"))
	},
}

// toRun is how many runs of a backfill there are to be.
var toRun = remote.Words{"runs": func(_ *remote.Call, o remote.Object) string {
	return fmt.Sprint(o.Int("total") - o.Int("alreadyRun"))
}, "progress": remote.Said("{started}/{runs}")}

var backfill = remote.Verb{
	Use: "backfill", Short: "Run the planned times of a past range, each once",
	Example: "job backfill \"settle orders\" --from 2026-11-01 --to 2026-11-08 --dry-run\n" +
		"job backfill \"settle orders\" --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z --max-parallel 4\n" +
		"job backfill \"settle orders\" --from 2026-11-01 --to 2026-11-08 --include-failed",
	Flags: []remote.Flag{
		{Name: "dry-run", As: "dryRun", Default: false, Help: "show what would run, and run nothing"},
		{
			Name: "include-failed", As: "includeFailed", Default: false,
			Help: "also run the times again whose fires failed and were not made good",
		},
		{Name: "max-parallel", As: "maxParallel", Default: 1, Help: "how many of its runs may be active at once"},
	},
	Span: "the job", Method: "POST", Path: "/jobs/{id}/backfill",
	Body: func(_ *remote.Call, params map[string]any) (any, error) {
		if params["from"] == nil || params["to"] == nil {
			return nil, usage.Errorf("give the range with --from and --to")
		}
		return params, nil
	},
	Show: func(k *remote.Call, o remote.Object) {
		k.Times(o.Texts("fireTimes"))
		if !k.On("dry-run") {
			k.Say("{id}", o)
		}
		said := "{total} planned (time|times), of which {alreadyRun} (has|have) run already"
		if k.On("dry-run") && k.On("include-failed") {
			said += "; of those that would run {failed} (has|have) failed"
		}
		k.Note(said, o)
	},
}

var backfills = remote.Verb{
	Use: "backfills", Short: "List the backfills of a job, newest first", Words: toRun,
	Path: "/jobs/{id}/backfills", Paged: true, Limit: 50,
	Columns: "id, from|zoned, to|zoned, status, started=progress, at once=maxParallel, by=user, made=createTime|moment",
}

var cancelBackfill = remote.Verb{
	Use: "cancel-backfill JOB ID", Short: "Stop a backfill; its runs that have started go on",
	Example: "job backfills \"settle orders\"\njob cancel-backfill \"settle orders\" 0193…",
	Method:  "POST", Path: "/jobs/{id}/backfills/{1}/cancel", Words: toRun,
	Done: "{id} is {status}; {started} of its {runs} runs have started",
}

var trigger = remote.Verb{
	Use: "trigger JOB…", Short: "Run a job now, or at a given time",
	Long: `Run a job now, or at a given time, and print the ids of its runs, one a shard. With
--wait their logs are followed to their end, also over a restart of the server;
then -o json prints the runs as they ended.

--param day=2026-11-14 may be repeated; its value is a string. --params takes a
JSON object for values of other types; --param overrides it.

Several jobs are run now, as they are.`,
	Example: "job trigger \"settle orders\" --wait\n" +
		"job trigger \"settle orders\" --param day=2026-11-14 --param region=eu\n" +
		"job trigger \"settle orders\" --params '{\"limit\": 10}' --at 03:00",
	Flags: []remote.Flag{
		{
			Name: "param", As: "params", To: values, Default: remote.Each{},
			Help: "a parameter of the run, as `NAME=VALUE`; may be repeated",
		},
		{
			Name: "scheduled-time", As: "scheduledTime", To: remote.Moment,
			Help: "the value of ${scheduledTime}, as `TIME`; by default the time of the start",
		},
	},
	Own: []remote.Flag{
		{Name: "params", Help: "parameters of the run, a JSON `OBJECT`"},
		{
			Name: "at",
			Help: "start at this `TIME`, such as 2026-11-14T03:00:00Z or 03:00; without a zone it is taken in the job's",
		},
		{Name: "delay", Default: time.Duration(0), Help: "start after this `TIME`, such as 90s or 2h"},
	},
	Several: "/bulk/jobs/trigger", Path: "/jobs/{id}/trigger", Body: withDelay,
	Check: func(k *remote.Call) error {
		for _, flag := range []string{"params", "param", "at", "delay", "scheduled-time", "wait", "timestamps"} {
			if len(k.Args) > 1 && k.Changed(flag) {
				return usage.Errorf("--%s is for one job; several are run now, as they are", flag)
			}
		}
		return nil
	},
}

// withDelay adds to a body when the run is to start.
func withDelay(k *remote.Call, body map[string]any) (any, error) {
	delay := k.Length("delay")
	if k.Given("at") != "" {
		if delay != 0 {
			return nil, usage.Errorf("--at and --delay exclude each other: use one of them")
		}
		at, err := k.At("at", k.ZoneName)
		if err != nil {
			return nil, err
		}
		if delay = at.Sub(k.Clock.Now()); delay < 0 {
			return nil, usage.Errorf("--at is past: %s", at.Format(time.RFC3339))
		}
		if body["scheduledTime"] == nil {
			body["scheduledTime"] = remote.Sent(at) // the server counts whole seconds
		}
	}
	if delay < 0 {
		return nil, usage.Errorf("--delay must not be negative")
	}
	if delay > 0 {
		body["delaySec"] = int(math.Ceil(delay.Seconds()))
	}
	return body, nil
}

// values are the parameters of --param and of --params.
func values(k *remote.Call, _ remote.Input) (any, error) {
	params := map[string]json.RawMessage{}
	if whole := k.Given("params"); whole != "" {
		if err := json.Unmarshal([]byte(whole), &params); err != nil || params == nil {
			return nil, usage.Errorf("--params is a JSON object, such as '{\"day\": \"2026-11-14\"}'")
		}
	}
	single := map[string]bool{}
	for _, p := range k.Listed("param") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("--param must be NAME=VALUE, not %q", p)
		}
		if single[name] {
			return nil, usage.Errorf("--param %s is given twice", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		params[name], single[name] = text, true
	}
	if len(params) == 0 {
		return nil, nil
	}
	return params, nil
}
