// Package workers holds the commands about workers, which are programs of users that run jobs: their groups, their
// tokens, and the workers themselves.
package workers

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// words are what a worker, or a worker group, is in words.
var words = remote.Words{
	"state":        remote.If("suspect", "{status}, suspect", "{status}"),
	"occupied":     remote.Said("{running}/{slots}"),
	"commands":     remote.If("commandSlots", "{commandsRunning}/{commandSlots}", ""),
	"made of":      remote.Said("[{sdk}][, {runtime}]"),
	"where":        remote.Said("[{host}]{process}"),
	"process":      remote.If("pid", ", process {pid}", ""),
	"may":          remote.Said("{secret part}{command part}{declare part}"),
	"secret part":  remote.If("secrets", "get secrets", "get no secrets"),
	"command part": remote.If("commands", ", run commands", ""),
	"declare part": remote.If("declare", ", declare jobs", ""),
}

var verbs = []remote.Verb{
	{
		Use: "list", Short: "List the workers", Example: "worker list --group shop\nworker list -o json",
		Flags: []remote.Flag{
			{Name: "group", Help: "of this worker `GROUP`"},
			{Name: "status", To: remote.Upper, Help: "in this `STATE`: up, draining or down"},
		},
		Path: "/workers", Paged: true,
		Columns: "id, instance, status=state, running=occupied, commands, handlers|count, labels, version, " +
			"last beat=lastBeat|moment",
	},
	{
		Use: "show ID", Short: "Show a worker", Example: "worker show @shop.7h2kq0c5m9x1d", Path: "/workers/{0}",
		Fields: "Id=id, Group=group, Instance=instance, Job groups=jobGroups, Status=state, Epoch=epoch, Running=occupied, " +
			"Commands=commands, Weight=weight, Labels=labels, Handlers=handlers, Made of=made of, Version=version, " +
			"Where=where, Gateway=gateway, Last beat=lastBeat|moment, Lease until=leaseUntil|moment, Began=beginTime|moment",
	},
	{
		Use: "drain ID", Short: "Start no new runs on a worker; its runs go on to their end",
		Example: "worker drain @shop.7h2kq0c5m9x1d", Method: "POST", Path: "/workers/{0}/drain",
		Done: "{id} starts nothing new; {running} (run goes|runs go) on there",
	},
	{
		Use: "resume ID", Short: "Let runs start on a worker again", Example: "worker resume @shop.7h2kq0c5m9x1d",
		Method: "POST", Path: "/workers/{0}/resume", Done: "{id} starts runs again",
	},
}

var groupVerbs = []remote.Verb{
	{
		Use: "list", Short: "List the worker groups", Example: "worker group list", Path: "/worker-groups",
		Columns: "name, job groups=jobGroups, its workers may=may, max workers=maxWorkers",
	},
	{
		Use: "show GROUP", Short: "Show a worker group", Example: "worker group show shop", Path: "/worker-groups/{0}",
		Fields: "Name=name, Job groups=jobGroups, Its workers may=may, Max workers=maxWorkers, Version=version, " +
			"Made=createTime|moment, Changed=updateTime|moment",
	},
	{
		Use: "set GROUP", Short: "Make a worker group, or change it",
		Long: `Make a worker group, or change one. Jobs of its job groups may name it, and all
its workers are equal. What is not given stays as it is.`,
		Example: "worker group set shop --job-group orders --job-group billing\nworker group set shop --secrets=false",
		Own: []remote.Flag{
			{Name: "job-group", Default: remote.Each{}, Help: "a group whose jobs may name it; may be repeated"},
			{Name: "secrets", Default: false, Help: "its workers get the secrets that jobs name"},
			{Name: "commands", Default: false, Help: "its workers may run commands"},
			{Name: "declare", Default: false, Help: "its workers may create jobs for their own handlers"},
			{Name: "max-workers", Default: 0, Help: "the largest number of its workers; 2,000 by default"},
		},
		Run: setGroup,
	},
	{
		Use: "delete GROUP", Short: "Delete a worker group that has no workers, with its tokens",
		Example: "worker group delete shop", Method: "DELETE", Path: "/worker-groups/{0}",
		Ask: "Delete the worker group {0} with its tokens?", Done: "deleted the worker group {0}",
	},
}

// setGroup sends a group whole: what the flags do not name is as it was.
func setGroup(k *remote.Call) error {
	all, err := k.Get("/worker-groups", nil) // which has no pages
	if err != nil {
		return err
	}
	body := map[string]any{}
	done := "made"
	for _, known := range all.List("items") {
		if known.Text("name") != k.Args[0] {
			continue
		}
		done = "changed"
		for _, field := range []string{"jobGroups", "secrets", "commands", "declare", "maxWorkers", "version"} {
			body[field] = known[field]
		}
	}
	if k.Changed("job-group") {
		body["jobGroups"] = k.Listed("job-group")
	}
	if body["jobGroups"] == nil {
		return usage.Errorf("say whose jobs the workers of the new group run: --job-group GROUP")
	}
	for _, flag := range []string{"secrets", "commands", "declare"} {
		if k.Changed(flag) {
			body[flag] = k.On(flag)
		}
	}
	if k.Changed("max-workers") {
		body["maxWorkers"] = k.Number("max-workers")
	}
	o, err := k.Do("PUT", "/worker-groups/{0}", body)
	if err == nil {
		k.Finish(done+" the worker group {name}, version {version}", o)
	}
	return err
}

var tokenVerbs = []remote.Verb{
	{
		Use: "create GROUP NAME", Short: "Create a token of a worker group and print it once",
		Example: "worker token create shop \"deployed in May\" --days 90 > /run/secrets/worker-token",
		Flags: []remote.Flag{{
			Name: "days", Default: 90, Help: "how many days it is valid, at most 366",
			As: "expiresAt", To: func(k *remote.Call, _ remote.Input) (any, error) {
				return remote.Sent(k.Clock.Now().Add(time.Duration(k.Number("days")) * 24 * time.Hour)), nil
			},
		}},
		Method: "POST", Path: "/worker-groups/{0}/tokens", Done: "{token}",
		Body: func(k *remote.Call, params map[string]any) (any, error) {
			params["name"] = k.Args[1]
			return params, nil
		},
	},
	{
		Use: "list GROUP", Short: "List the tokens of a worker group", Example: "worker token list shop",
		Path:    "/worker-groups/{0}/tokens",
		Columns: "id, name, made by=createdBy, expires=expiresAt|moment, last used=lastUsedAt|moment",
	},
	{
		Use: "revoke GROUP ID", Short: "Revoke a token of a worker group; within five seconds nobody gets in with it",
		Example: "worker token revoke shop 0193…", Method: "DELETE", Path: "/worker-groups/{0}/tokens/{1}",
		Ask: "Revoke the token {1} of the worker group {0}?", Done: "revoked {1}",
	},
}

// Commands are those of this package.
func Commands(s *remote.Session) []*cobra.Command {
	c := s.Parent(remote.Verb{
		Use: "worker", Short: "Be a worker; list and drain workers, and manage their groups and tokens",
		Long: `List and drain workers, which are programs that run jobs, and manage their groups
and tokens. With --server, --group and --token-file this process is a worker: it
runs HTTP calls, and with --commands commands, on this machine, until a signal.
What executor.* settings say of a server holds for it, too.`,
		Example: "worker --server https://a:8080 --group hosts --token-file /run/worker-token --commands\nworker list\n" +
			"worker group set shop --job-group orders\nworker token create shop \"deployed in May\"",
		Offers: remote.Workers, Words: words,
	}, verbs...)
	c.AddCommand(s.Parent(remote.Verb{
		Use: "group", Short: "Manage the worker groups; for admins", Example: "worker group list",
		Offers: remote.WorkerGroups, Words: words,
	}, groupVerbs...), s.Parent(remote.Verb{
		Use: "token", Short: "Manage the tokens of worker groups; for admins",
		Long:    "Manage the tokens of worker groups. A token belongs to a group, and not to a person.",
		Example: "worker token create shop \"deployed in May\" --days 90",
		Offers:  remote.WorkerGroups, Words: words,
	}, tokenVerbs...))
	return []*cobra.Command{c}
}
