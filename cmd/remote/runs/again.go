package runs

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// failed are the flags that choose failed runs.
func failed() []remote.Flag {
	return append(remote.Span("this machine"), failedOnly...)
}

var failedOnly = []remote.Flag{
	{
		Name: "job", As: "jobIds", Default: remote.Each{}, To: jobIDs,
		Help: "only runs of this `JOB`, by name or id; may be given again",
	},
	{Name: "group", As: "groups", Default: remote.Commas{}, Help: "only runs of jobs of these `GROUPS`"},
	{Name: "status", Default: remote.Commas{}, To: statuses, Help: "only runs in these `STATES`: FAILED, TIMEOUT or DEAD"},
	{Name: "reason", To: remote.Upper, Help: "only runs that ended for this reason, such as NODE_LOST"},
	{Name: "node", As: "nodeId", Help: "only runs that this `NODE` ran last"},
	{Name: "trigger", To: remote.Upper, Help: "only runs with this trigger, such as SCHEDULE"},
	{Name: "cause", Help: "only runs of this cause, as the count shows it"},
	{
		Name: "also-succeeded", As: "succeededSince", Default: false,
		Help: "also runs of jobs of which a later fire succeeded",
	},
}

var retry = remote.Verb{
	Use: "retry [ID…]", Short: "Run them again as new runs, and print the new ids",
	Long: `Run runs again as new runs, and print the new ids.

Without ids, flags choose failed runs, those of the last day unless --from says otherwise. The
command counts them by job and cause, asks, and starts them, the oldest first. Runs that were run
again before are left out, and those of jobs of which a later fire succeeded.`,
	Example: "execution retry 0193… --wait\nexecution retry --group shop --reason NODE_LOST --from 02:00 --to 03:00\n" +
		"execution retry --job \"settle orders\" --dry-run",
	Args: cobra.ArbitraryArgs, Several: "/bulk/executions/retry", Asks: true,
	Own: slices.Concat(failed(), []remote.Flag{
		{Name: "limit", Default: maxRetries, Help: "the most runs, of which the newest count"},
		{Name: "dry-run", Default: false, Help: "count, and start nothing"},
	}),
	Check: checkRetry, Instead: retryFailed, Path: "/executions/{0}/retry",
}

// maxRetries is the most runs of one plan of the API.
const maxRetries = 5000

// jobIDs are the ids of the jobs that were named.
func jobIDs(k *remote.Call, _ remote.Input) (any, error) {
	var ids []string
	for _, name := range k.Listed("job") {
		job, err := k.FindJob(name, "")
		if err != nil {
			return nil, err
		}
		ids = append(ids, job.ID)
	}
	return some(ids), nil
}

func statuses(k *remote.Call, _ remote.Input) (any, error) {
	return some(strings.Fields(strings.ToUpper(strings.Join(k.Listed("status"), " ")))), nil
}

// some is a list with something in it, else nil.
func some(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// checkRetry refuses ids beside a choice, and neither of them.
func checkRetry(k *remote.Call) error {
	filtered := slices.ContainsFunc(failed(), func(f remote.Flag) bool { return k.Changed(f.Name) })
	empty := slices.ContainsFunc(failed(), func(f remote.Flag) bool {
		given := k.Given(f.Name)
		return k.Changed(f.Name) && (given == "" || given == "[]" || slices.Contains(k.Listed(f.Name), ""))
	})
	switch {
	case empty:
		return usage.Errorf("a flag that chooses runs must not be empty: leave it out for all")
	case len(k.Args) > 0 && (filtered || k.On("dry-run") || k.Changed("limit")):
		return usage.Errorf("name runs by their ids, or choose failed ones with flags, not both")
	case len(k.Args) == 0 && !filtered:
		return usage.Errorf("name runs by their ids, or choose failed ones, such as with --from 02:00 --reason NODE_LOST")
	case len(k.Args) != 1 && (k.On("wait") || k.On("timestamps")):
		return usage.Errorf("--wait and --timestamps follow one run that is named by its id")
	}
	return nil
}

// retryFailed counts the failed runs that flags choose, asks, and starts them.
func retryFailed(k *remote.Call) (bool, error) {
	if len(k.Args) > 0 {
		return false, nil
	}
	filter := map[string]any{}
	if err := k.Params(failed(), filter); err != nil {
		return true, err
	}
	o, err := k.Do("POST", "/bulk/executions/retry",
		map[string]any{"filter": filter, "dryRun": true, "limit": k.Number("limit")})
	if err != nil {
		return true, err
	}
	start := !k.On("dry-run") && o.Int("plan.total") > 0
	switch {
	case k.ForPeople():
		showPlan(k, o)
	case !start:
		k.Raw(k.Answer)
	}
	if !start {
		return true, nil
	}
	if err := k.Insist("Run them again (runs: %d, jobs: %d)?", o.Int("plan.total"), o.Int("plan.jobCount")); err != nil {
		return true, err
	}
	return true, remote.Bulk{Path: "/bulk/executions/retry", Body: map[string]any{"planId": o.Text("planId")}}.Do(k)
}

// showPlan shows the runs that would start, and counts those that would not.
func showPlan(k *remote.Call, o remote.Object) {
	if o.Int("plan.total") > 0 {
		k.Table("job=jobName, runs=count", o.List("plan.jobs"))
		k.Line("")
		k.Table("cause, reason, runs=count, newest=lastExecutionId, message", o.List("plan.causes"))
	}
	k.Note("runs: {plan.total}, jobs: {plan.jobCount}; left out: {plan.leftOut.runAgain} that were run "+
		"again, {plan.leftOut.succeededSince} of jobs that succeeded since, {plan.leftOut.deleted} of deleted "+
		"jobs", o)
	if o.Is("more") {
		k.Notef("there are more: --limit bounds them, and the newest count")
	}
	if !o.Is("plan.complete") {
		k.Notef("there are older failures in the span that were not looked at")
	}
}

// chosen are the flags that choose dead letters.
var chosen = []remote.Flag{
	{Name: "job", As: "jobId", To: remote.JobID, Help: "only those of this `JOB`, by name or id"},
	{Name: "group", Help: "only those of jobs of this group"},
	{Name: "reason", Help: "only those that ended for this reason, such as EXIT_CODE"},
}

var letters = []remote.Verb{
	{
		Use: "list", Short: "List dead letters, newest first", Example: "dead-letter list --job \"settle orders\"",
		Flags: chosen, Path: "/dead-letters", Paged: true, Limit: 50,
		Columns: "id, job=jobName, died=createTime|moment, reason, replayed as=replayedAs, message",
	},
	{
		Use: "causes", Short: "Count the dead letters by job and reason", Example: "dead-letter causes",
		Path: "/dead-letters/causes",
		Columns: "job=jobName, reason, count, first=firstTime|moment, latest=latestTime|moment, " +
			"message of the latest=message",
	},
	Starting(remote.Verb{
		Use: "replay ID… | --job JOB --reason REASON", Short: "Run dead letters again, as new runs",
		Args: cobra.ArbitraryArgs, Own: chosen, Asks: true,
		Example: "dead-letter replay 0193… --wait\ndead-letter replay --job \"settle orders\" --reason HTTP_STATUS",
		Check:   checkCause, Instead: ofCause("replay", "Replay"), Path: "/dead-letters/{0}/replay",
		Several: "/bulk/dead-letters/replay",
	}),
	{
		Use:   "discard ID… | --job JOB --reason REASON",
		Short: "Remove dead letters from the list; their runs stay DEAD",
		Args:  cobra.ArbitraryArgs, Own: chosen, Asks: true,
		Example: "dead-letter discard 0193…\ndead-letter discard --job \"settle orders\" --reason HTTP_STATUS --yes",
		Check:   checkCause, Instead: ofCause("discard", "Discard"),
		Several: "/bulk/dead-letters/discard",
		Method:  "POST", Path: "/dead-letters/{0}/discard", Done: "discarded {0}",
	},
}

// checkCause refuses all but ids, or the job and the reason of dead letters.
func checkCause(k *remote.Call) error {
	named, job, reason := len(k.Args) > 0, k.Given("job") != "", k.Given("reason") != ""
	switch {
	case len(k.Args) == 1 && k.Given("job")+k.Given("group")+k.Given("reason") == "":
	case k.On("wait") || k.On("timestamps"):
		return usage.Errorf("--wait and --timestamps follow one dead letter that is named by its id")
	case named && (job || reason), !named && !(job && reason):
		return usage.Errorf("name dead letters by their ids, or all of a cause with --job and --reason")
	case named && k.Given("group") != "":
		return usage.Errorf("--group helps to find --job: leave it out where ids name the dead letters")
	}
	return nil
}

// ofCause does something to all dead letters of a job and a reason, unless they are named.
func ofCause(what, question string) func(k *remote.Call) (bool, error) {
	return func(k *remote.Call) (bool, error) {
		if len(k.Args) > 0 {
			return false, nil
		}
		reason := k.Given("reason")
		job, err := k.FindJob(k.Given("job"), k.Given("group"))
		if err == nil {
			err = k.Ask("%s all dead letters of %s that ended with %s?", question, k.Given("job"), reason)
		}
		if err != nil {
			return true, err
		}
		body := map[string]any{"jobId": job.ID, "reason": reason}
		return true, remote.Bulk{Path: "/bulk/dead-letters/" + what, Body: body}.Do(k)
	}
}
