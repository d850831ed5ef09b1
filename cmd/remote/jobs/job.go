// Package jobs holds the commands for jobs, their groups and their schedules.
package jobs

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/documents"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/runs"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// find finds the job that the first argument names.
func find(k *remote.Call) error { return k.ChooseJob(k.Args[0], k.Given("group")) }

// about completes a command for one job, or for several.
func about(v remote.Verb) remote.Verb {
	if v.Example == "" {
		v.Example = "job " + v.Use + " \"settle orders\""
	}
	if !strings.Contains(v.Use, " ") {
		v.Use += " JOB"
	}
	v.Offers = remote.Jobs
	if v.Find == nil {
		v.Find = find
	}
	return v
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	verbs := []remote.Verb{list, documents.Apply, documents.Export, undelete}
	for _, v := range []remote.Verb{
		get, copying, fires, why, graph, versions, diff, rollback, backfill, backfills, cancelBackfill,
		runs.Starting(trigger), pause, resume, remove,
	} {
		verbs = append(verbs, about(v))
	}
	c := s.Parent(remote.Verb{
		Use: "job", Short: "Manage jobs", Example: "job list\njob trigger \"settle orders\" --wait",
		Long: "Manage jobs. A job is named by its id, by its name (with --group where several\ngroups have one of that " +
			"name), or as group/name.",
	}, verbs...)
	c.PersistentFlags().String("group", "", "the group of the job")
	// It fails only for flags that are not there.
	_ = c.RegisterFlagCompletionFunc("group", s.Names(remote.Groups, true))
	return []*cobra.Command{c, s.Parent(remote.Verb{
		Use: "group", Short: "Manage groups of jobs", Example: "group list\ngroup pause reports",
		Offers: remote.Groups, Words: groupWords,
	}, groupVerbs...), s.Parent(remote.Verb{
		Use: "schedule", Short: "Preview schedules, show how many fires are planned, and spread them",
		Example: "schedule preview --cron \"0 0 9 ? * MON-FRI\" --zone Asia/Shanghai",
	}, preview, load, spread)}
}

// words are what a job is in words.
var words = remote.Words{
	// The state of a job, and whether the store holds it whole.
	"state": func(_ *remote.Call, o remote.Object) string {
		if o.Has("unreadable") {
			return o.Text("status") + ", unreadable"
		}
		return o.Text("status")
	},
	"next": func(k *remote.Call, o remote.Object) string {
		return remote.In(k.Zone(o.Text("schedule.timeZone")), o.Text("nextFireTime"))
	},
}

var list = remote.Verb{
	Use: "list", Short: "List jobs, newest first", Example: "job list --status PAUSED -o json",
	Long: "List jobs, newest first. The next fire is in the zone of the job, or in UTC with\n--utc.",
	Flags: []remote.Flag{
		{Name: "status", Help: "CREATED, ENABLED, PAUSED or FINISHED"},
		{Name: "name", Help: "only names that contain this"},
		{Name: "type", As: "jobType", Help: "HTTP, COMMAND or CUSTOM"},
	},
	Path: "/jobs", Paged: true, Limit: 100, Words: words,
	Query: func(k *remote.Call, q url.Values) error {
		if group := k.Given("group"); group != "" {
			q.Set("group", group)
		}
		return nil
	},
	Columns: "id, name, group, type=jobType, status=state, next fire=next, last fire=lastFireTime|moment",
}

var remove = remote.Verb{
	Use: "delete JOB…", Short: "Delete jobs; their runs stay until retention removes them",
	Ask: "Delete the job {found}?", Example: "job delete \"settle orders\"",
	Method: "DELETE", Path: "/jobs/{id}", Done: "deleted {found}; job undelete {found.id} brings it back",
	Several: "/bulk/jobs/delete", AskSeveral: "Delete %d jobs?",
}

// undelete takes the id: a name finds only jobs that are there.
var undelete = remote.Verb{
	Use: "undelete ID", Short: "Bring a deleted job back, paused, with its runs and versions",
	Long: "Bring a deleted job back while retention keeps it. Its id is in the output of job delete and in the\n" +
		"audit log: audit --name \"settle orders\". A job that had a plan is paused until job resume.",
	Example: "job undelete 0193…",
	Check: func(k *remote.Call) error {
		if k.Changed("group") {
			return usage.Errorf("a deleted job is named by its id alone: leave --group out")
		}
		return nil
	},
	Method: "POST", Path: "/jobs/{0}/undelete", Done: "{group}/{name} is back, {status}",
}

var copying = remote.Verb{
	Use: "copy", Short: "Copy a job, without a plan of its own until it is resumed",
	Example: "job copy \"settle orders\" --name \"settle orders of test\" --to-group test",
	Flags: []remote.Flag{
		{Name: "name", Help: "the `NAME` of the copy; by default that of the job with a number"},
		{Name: "to-group", As: "group", Help: "the `GROUP` of the copy; by default that of the job"},
	},
	Method: "POST", Path: "/jobs/{id}/copy", Done: "made {group}/{name}, which fires after job resume",
}

var pause = hold("pause", "Pause", remote.Verb{
	Short:   "Stop planning a job, the jobs of a group, or all",
	Example: "\njob pause \"settle orders\" --reason \"the bank is closed\" --until \"2026-11-16 06:00\"",
	Flags:   remote.Pause("the job, or of this machine where several are meant"),
})

var resume = hold("resume", "Resume", remote.Verb{Short: "Plan a job, the jobs of a group, or all again"})

// hold pauses or resumes one job, several, the jobs of a group, or all.
func hold(what, question string, v remote.Verb) remote.Verb {
	begin := "job " + what
	v.Use, v.Args, v.Several = what+" [JOB…]", cobra.ArbitraryArgs, "/bulk/jobs/"+what
	v.Example = begin + " \"settle orders\"\n" + begin + " --group reports\n" + begin + " --all" + v.Example
	v.Own = []remote.Flag{{Name: "all", Default: false, Help: "all jobs"}}
	v.Check = func(k *remote.Call) error {
		switch group := k.Given("group"); {
		case k.On("all") && (len(k.Args) > 0 || group != ""):
			return usage.Errorf("--all goes without a job and without --group")
		case !k.On("all") && len(k.Args) == 0 && group == "":
			return usage.Errorf("name a job, or a group with --group, or --all")
		}
		return nil
	}
	v.Ask, v.AskIf = question+" all jobs?", func(k *remote.Call) bool { return k.On("all") }
	v.Find = func(k *remote.Call) error {
		switch group := k.Given("group"); {
		case k.On("all"):
			k.Base, k.Title = "/jobs", "all jobs"
		case len(k.Args) == 0:
			k.Base, k.Title = "/groups/"+remote.Segment(group), "the group "+group
		default:
			err := find(k)
			k.Base = k.Path("/jobs/{id}")
			return err
		}
		return nil
	}
	v.Method, v.Path, v.Done = "POST", "{base}/"+what, what+"d {whom}"
	v.Words = remote.Words{"whom": func(k *remote.Call, o remote.Object) string {
		if k.ID != "" {
			return k.Job.Name
		}
		return k.Title + remote.Follows(k, o)
	}}
	return v
}
