package jobs

import (
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// groupWords are what a group is, in words.
var groupWords = remote.Words{
	// How many fires of its jobs run at once.
	"limit":         remote.If("maxConcurrency", "{maxConcurrency}", "unlimited"),
	"state":         remote.If("settled", "{settled state}", "{next state}"),
	"settled state": remote.If("paused", "paused", "planned"),
	"next state":    remote.If("paused", "pausing", "resuming"),
	"pause":         remote.PauseWords,
	"follows":       remote.Follows,
}

// most is the flag that bounds the fires of a group.
var most = remote.Flag{
	Name: "max-concurrency", As: "maxConcurrency", Default: 0,
	Help: "the largest number of fires of its jobs at once; 0 is unlimited",
}

var groupVerbs = []remote.Verb{
	{
		Use: "get GROUP", Short: "Show a group", Example: "group get reports", Path: "/groups/{0}",
		Fields: "Name=name, Max concurrency=limit, State=state, Paused=pause, Version=version, Made=createTime|moment, " +
			"Changed=updateTime|moment",
	},
	{
		Use: "create GROUP", Short: "Make a group", Flags: []remote.Flag{most}, Example: "group create reports",
		Method: "POST", Path: "/groups", Arg: "name", Done: "created the group {name}",
	},
	{
		Use: "update GROUP", Short: "Change how many fires of a group's jobs run at once",
		Flags:   []remote.Flag{most},
		Example: "group update reports --max-concurrency 4",
		Method:  "PUT", Path: "/groups/{0}", Done: "the group {0} runs at most {limit} (fire|fires) at once",
		Check: func(k *remote.Call) error {
			if !k.Changed(most.Name) {
				return usage.Errorf("say what to change: --max-concurrency N, where 0 is unlimited")
			}
			return nil
		},
		Body: func(k *remote.Call, _ map[string]any) (any, error) {
			known, err := k.Get(k.Path("/groups/{0}"), nil)
			return map[string]any{"maxConcurrency": k.Number(most.Name), "version": known["version"]}, err
		},
	},
	{
		Use: "pause GROUP", Short: "Stop planning every job of a group", Flags: remote.Pause("this machine"),
		Example: "group pause reports\ngroup pause reports --reason \"the store moves\" --until 2026-11-16T06:00:00Z",
		Method:  "POST", Path: "/groups/{0}/pause", Done: "paused the group {0}{follows}",
	},
	{
		Use: "resume GROUP", Short: "Plan the jobs of a group again", Example: "group resume reports",
		Method: "POST", Path: "/groups/{0}/resume", Done: "resumed the group {0}{follows}",
	},
	{
		Use: "delete GROUP", Short: "Delete a group that has no jobs", Example: "group delete reports",
		Method: "DELETE", Path: "/groups/{0}", Ask: "Delete the group {0}?", Done: "deleted the group {0}",
	},
	{
		Use: "list", Short: "List the groups", Example: "group list -o json",
		Path: "/groups", Paged: true, Columns: "name, max concurrency=limit, state",
	},
}
