package jobs

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// reasons say in words what a reason of the ledger means.
var reasons = map[string]string{
	"OVERLAP":    "the run before it had not ended, and the overlap policy of the job drops a fire then",
	"QUEUE_FULL": "as many fires as maxQueued allows were waiting already",
	"REPLACED":   "a later fire took its place, by the overlap policy REPLACE",
	"MISFIRE": "no node could fire it in time: the server was down or could not reach its store; the misfire " +
		"policy of the job decided",
	"PAUSED":         "the job, its group or every job was paused",
	"NO_NODE":        "no node could take it before its start deadline",
	"DEADLINE":       "it did not start before its start deadline",
	"NODE_LOST":      "the node that ran it was lost",
	"SHUTDOWN":       "the node that ran it was stopped",
	"EXIT_CODE":      "the command ended with a code that is no success",
	"HTTP_STATUS":    "the target answered with a status that is not expected",
	"BODY_MISMATCH":  "the answer of the target did not hold what is expected",
	"TIMEOUT":        "it ran longer than its timeoutSec",
	"PANIC":          "the handler panicked",
	"INVALID":        "the definition could not be run as it stands",
	"SECRET_MISSING": "a secret that the definition names is not there for the group of the job",
	"DELETED":        "the job was deleted",
	"ERROR":          "the run failed",
}

// waitWords say in words what a fire waits for.
var waitWords = map[string]string{
	"SLOT":    "every node that may take it is at its slots",
	"NODE":    "no node that is up carries the labels that the job asks for",
	"COMMAND": "no node that is up runs commands",
	"HANDLER": "no node that is up has the handler of the job",
	"TIME":    "its time, or that of its next attempt, has not come",
	"JOB":     "the fires of the job before it are not over",
	"GROUP":   "the group of the job is at its limit",
}

// explanation is what job why says.
type explanation struct {
	JobID       string          `json:"jobId"`
	Time        string          `json:"time"`
	Explanation string          `json:"explanation"`
	Fire        json.RawMessage `json:"fire"`
	// Message is that of the run, where one failed.
	Message string `json:"message"`
}

func (n *naming) why() *cobra.Command {
	c := n.one("why", "Explain why a job did, or did not, fire at a time", nil)
	c.Use = "why JOB [TIME]"
	c.Long = `Say what became of the fire of a job at a moment, and why. Without a zone the
time is taken in that of the job; without a time it is that of the latest fire.`
	c.Example = "  platform-scheduler job why \"settle orders\" 03:00\n  platform-scheduler job why \"settle orders\" " +
		"2026-11-14T03:00:00Z"
	c.Args = usage.Args(cobra.RangeArgs(1, 2))
	c.RunE = func(c *cobra.Command, args []string) error {
		return n.named(c, args[0], func(c *cobra.Command, api *client.Client, j remote.Job) error {
			text := ""
			if len(args) == 2 {
				text = args[1]
			}
			at, err := n.Time(remote.Input{Flag: "TIME", Text: text}, j.Schedule.TimeZone)
			if err != nil {
				return err
			}
			a := asking{naming: n, c: c, api: api, job: j, at: at}
			found, err := a.answer()
			if err != nil {
				return err
			}
			if !n.ForPeople() {
				return n.Value(found)
			}
			if err := n.Line("%s", found.Explanation); err != nil || found.Message == "" {
				return err
			}
			return n.Line("%s", found.Message)
		})
	}
	return c
}

// asking is one question for the fire of a job at a moment; the zero time is
// the latest one.
type asking struct {
	*naming
	c   *cobra.Command
	api *client.Client
	job remote.Job
	at  time.Time
}

// entry is a line of the ledger and how it was answered.
type entry struct {
	fire
	raw json.RawMessage
}

func (a *asking) answer() (explanation, error) {
	e := explanation{JobID: a.job.ID, Fire: json.RawMessage("null")}
	find := a.find
	if a.at.IsZero() {
		a.at, find = a.Clock.Now(), a.latest
	}
	e.Time = remote.Sent(a.at)
	found, ok, err := find()
	if err != nil {
		return e, err
	}
	if !ok {
		e.Explanation, err = a.nothing()
		return e, err
	}
	e.Fire, e.Message = found.raw, found.Message
	e.Explanation = a.explain(found.fire)
	if found.started() && found.Outcome != "SUCCESS" && len(found.ExecutionIDs) > 0 {
		var run struct{ ErrorMessage string }
		if err := a.api.Call(a.c.Context(), "GET", "/executions/"+found.ExecutionIDs[0], nil, nil, &run); err != nil {
			return e, err
		}
		e.Message = run.ErrorMessage
	}
	return e, nil
}

// minute is how exact people name the moment of a fire.
const minute = time.Minute

// back is how far before a moment the ledger is looked through.
const back = 31 * 24 * time.Hour

// latest is the newest line of the ledger that is not to come.
func (a *asking) latest() (found entry, ok bool, err error) {
	lines, err := a.lines(a.at.Add(-back), a.at, 50)
	for _, l := range lines {
		if l.Outcome != "PLANNED" {
			return l, true, nil
		}
	}
	return found, false, err
}

// find is the line of the ledger for the moment. It is the fire of that very moment, a range that
// holds it, or the first fire of its minute.
func (a *asking) find() (found entry, ok bool, err error) {
	lines, err := a.lines(a.at.Add(-back), a.at.Add(minute), 200)
	for _, l := range lines { // newest first
		begin, end := l.span()
		switch {
		case begin.Equal(a.at), !begin.After(a.at) && a.at.Before(end):
			return l, true, nil
		case begin.After(a.at):
			found, ok = l, true
		}
	}
	return found, ok, err
}

// lines reads the ledger, newest first.
func (a *asking) lines(from, to time.Time, limit int) ([]entry, error) {
	query := remote.Query("from", remote.Sent(from), "to", remote.Sent(to))
	_, items, err := a.api.Pages(a.c.Context(), "/jobs/"+a.job.ID+"/fires", query, limit)
	if err != nil {
		return nil, err
	}
	fires, err := client.Decode[fire](items)
	if err != nil {
		return nil, err
	}
	out := make([]entry, len(fires))
	for i := range fires {
		out[i] = entry{fires[i], items[i]}
	}
	return out, nil
}

// span is the time of a line; end is zero for a single fire.
func (f fire) span() (begin, end time.Time) {
	begin, _ = time.Parse(time.RFC3339Nano, remote.Deref(f.ScheduledTime))
	end, _ = time.Parse(time.RFC3339Nano, remote.Deref(f.RangeEnd))
	return begin, end
}

// explain says a line of the ledger in words.
func (a *asking) explain(f fire) string {
	zone := a.Zone(a.job.Schedule.TimeZone)
	when := remote.In(zone, f.ScheduledTime)
	if f.RangeEnd != nil {
		return fmt.Sprintf("the %s fires from %s to %s were not run, %s%s", f.count(), when, remote.In(zone, f.RangeEnd),
			f.Reason, words(f.Reason))
	}
	switch f.Outcome {
	case "PLANNED":
		return fmt.Sprintf("the fire of %s is still to come", when)
	case "WAITING":
		return fmt.Sprintf("the fire of %s %s", when, waits(f.WaitsFor))
	case "RUNNING":
		return fmt.Sprintf("the fire of %s runs, %s late", when, f.late())
	case "SUCCESS":
		return fmt.Sprintf("the fire of %s was run, %s late, and succeeded", when, f.late())
	case "SKIPPED":
		return fmt.Sprintf("the fire of %s was not run, %s%s", when, f.Reason, words(f.Reason))
	}
	return fmt.Sprintf("the fire of %s was run, %s late, and ended as %s, %s%s", when, f.late(), f.Outcome, f.Reason,
		words(f.Reason))
}

// waits says what a fire waits for.
func waits(what string) string {
	if text := waitWords[what]; text != "" {
		return "waits: " + text
	}
	return strings.TrimSpace("waits " + what)
}

// words are what a reason means, behind a colon.
func words(reason string) string {
	if text := reasons[reason]; text != "" {
		return ": " + text
	}
	return ""
}

// nothing says what lies beside a moment for which no fire was planned.
func (a *asking) nothing() (string, error) {
	var job struct {
		Status   string `json:"status"`
		Schedule struct {
			Kind string `json:"kind"`
		} `json:"schedule"`
	}
	if err := json.Unmarshal(a.job.Raw, &job); err != nil {
		return "", err
	}
	if job.Schedule.Kind == "NONE" {
		run, err := a.latestRun()
		return "the job has no schedule: it runs when it is triggered" + run, err
	}
	text := fmt.Sprintf("no fire of the job was planned for %s; the job is %s",
		a.at.In(a.Zone(a.job.Schedule.TimeZone)).Format(time.RFC3339), job.Status)
	lines, err := a.lines(a.at.Add(-back), a.at, 1)
	if err != nil {
		return "", err
	}
	if len(lines) > 0 {
		text += "; before that, " + a.explain(lines[0].fire)
	}
	return text, nil
}

// latestRun says what became of the latest run of the job; "" where there is none.
func (a *asking) latestRun() (string, error) {
	runs, err := client.List[struct{ ID, Status, Reason, WaitsFor string }](a.c.Context(), a.api, "/executions",
		remote.Query("jobId", a.job.ID), 1)
	if err != nil || len(runs) == 0 {
		return "", err
	}
	run := runs[0]
	text := "; its latest run, " + run.ID + ", "
	switch {
	case run.Status == "WAITING":
		text += waits(run.WaitsFor)
	case run.Status == "RUNNING":
		text += "runs"
	case run.Reason == "":
		text += "ended as " + run.Status
	default:
		text += fmt.Sprintf("ended as %s, %s%s", run.Status, run.Reason, words(run.Reason))
	}
	return text, nil
}
