package cluster

import (
	"fmt"
	"net/url"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// figures are what ends of executions add up to, in words.
var figures = remote.Words{
	"rate": func(_ *remote.Call, o remote.Object) string {
		if !o.Has("successRate") {
			return ""
		}
		return fmt.Sprintf("%.2f %%", 100*o.Float("successRate"))
	},
	"duration": quantiles("duration"),
	"lateness": quantiles("lateness"),
	"of each": remote.Said("{runs}: {success} succeeded, {failed} failed, {timeout} timed out, {cancelled} cancelled, " +
		"{dead} dead"),
	"name": func(_ *remote.Call, o remote.Object) string {
		if !o.Has("name") || !o.Has("group") {
			return o.Text("jobId")
		}
		return o.Text("group") + "/" + o.Text("name")
	},
}

func quantiles(of string) func(k *remote.Call, o remote.Object) string {
	return remote.Said("[p50 {" + of + ".p50Ms|took}, p95 {" + of + ".p95Ms|took}, p99 {" + of + ".p99Ms|took}]")
}

// zone and group are flags of several commands.
var (
	zone  = remote.Flag{Name: "zone", As: "timeZone", Help: "the IANA `ZONE` of days; that of the server by default"}
	group = remote.Flag{Name: "group", Help: "the jobs of this group"}
)

var stats = remote.Verb{
	Use:   "stats [JOB]",
	Short: "Show runs, success rate, durations and lateness of a job, a group, a node, workers or all",
	Long: "Show what ends of executions add up to: of a job, with --group of the jobs of a group,\nwith --node of what " +
		"ended on a node, with --workers of what\nended on the workers of a worker group, else of all that you see. " +
		"Hours are kept\nfor three days, days for 400.",
	Example: "stats \"settle orders\" --from 2026-11-01 --by day\nstats --top 10 --top-by failures",
	Offers:  remote.Jobs, Words: figures, Span: "this machine",
	Flags: []remote.Flag{
		{Name: "node", Help: "what ended on this node"},
		{Name: "workers", Help: "what ended on the workers of this worker `GROUP`"},
		zone,
		{
			Name: "top-by", As: "topBy",
			Help: "failures, runs, duration, late, skipped or retries; failures by default",
		},
		{Name: "group", Help: "the jobs of this group, or the group of JOB"},
		{Name: "by", To: remote.Upper, Help: "a line for each `hour` or day"},
		{Name: "top", Default: 0, Help: "so many of the jobs with the most of --top-by, at most 100"},
	},
	Path: "/monitor/statistics", Show: showStats,
	Query: func(k *remote.Call, q url.Values) error {
		if len(k.Args) == 0 {
			return nil
		}
		job, err := k.FindJob(k.Args[0], q.Get("group"))
		q.Del("group")
		q.Set("job", job.ID)
		return err
	},
}

func showStats(k *remote.Call, o remote.Object) {
	total := o.Inner("total")
	for _, name := range []string{"from", "to", "asOf"} {
		total[name] = o[name]
	}
	k.Describe("From=from|moment, To=to|moment, Counted until=asOf|moment, Runs=of each, Success rate=rate, "+
		"Skipped fires=skipped, Retries=retries, Duration=duration, Lateness=lateness, Late runs=lateRuns", total)
	k.ZoneName = o.Text("timeZone")
	k.Below("start|zoned, runs, success=rate, skipped, p50=duration.p50Ms|took, p95=duration.p95Ms|took, "+
		"late p95=lateness.p95Ms|took", o.List("items"))
	if o.Is("rounded") {
		k.Notef("days of %s do not begin with an hour of UTC; they are rounded to it", o.Text("timeZone"))
	}
	k.Below("job=name, runs, failures, skipped, retries, duration=durationMs|took, late=lateRuns", o.List("top"))
}

var today = remote.Verb{
	Use: "today", Short: "Compare today with the same hours of the days before",
	Example: "today\ntoday --group billing", Path: "/monitor/today",
	Flags: []remote.Flag{group, zone},
	Show: func(k *remote.Call, o remote.Object) {
		rows := []remote.Object{}
		for _, part := range []struct{ name, of string }{
			{"today", "today"}, {"median of " + o.Text("days") + " days", "usual"},
		} {
			if figures, is := o.At(part.of).(map[string]any); is {
				figures["part"] = part.name
				rows = append(rows, figures)
			}
		}
		k.Table("=part, runs|exact, failures|exact, p95=p95Ms|took", rows)
	},
}

var failures = remote.Verb{
	Use: "failures", Short: "Count the newest failures by cause, of the last day by default",
	Example: "failures\nfailures --from 2026-11-22 -o json", Span: "this machine",
	Flags: []remote.Flag{group}, Path: "/monitor/failures",
	Show: func(k *remote.Call, o remote.Object) {
		k.Table("reason, count, jobs=jobCount, last=lastTime|moment, execution=lastExecutionId, message",
			o.List("items"))
		if !o.Is("complete") {
			k.Line("There are more failures: ask for a shorter span.")
		}
	},
}
