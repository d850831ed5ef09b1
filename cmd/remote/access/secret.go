package access

import (
	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/terminal"
)

func secretCommand(s *remote.Session) *cobra.Command {
	return s.Parent(remote.Verb{
		Use: "secret", Short: "Manage the secrets that jobs name as ${secret.NAME}", Words: words,
		Long:    "Manage the secrets that jobs name as ${secret.NAME}. A value is written and never\nread back.",
		Example: "secret list\nsecret set billing-token --value-file token.txt",
		Offers:  remote.Secrets,
	}, remote.Verb{
		Use: "list", Short: "List the secrets, without their values", Example: "secret list -o json",
		Path: "/secrets", Paged: true, Columns: "name, groups, version, changed=updateTime|moment, description",
	}, secretSet, remote.Verb{
		Use: "uses NAME", Short: "List the jobs that name a secret", Example: "secret uses billing-token",
		Path: "/secrets/{0}/uses", Each: "{group}/{name} ({id})", Done: "{sum}",
		Words: remote.Words{"sum": remote.If("more", "and more", "{items|count} jobs")},
	}, remote.Verb{
		Use: "delete NAME", Short: "Delete a secret; runs that name it fail from then on",
		Example: "secret delete billing-token", Ask: "Delete the secret {0}? Runs that name it fail from then on.",
		Method: "DELETE", Path: "/secrets/{0}", Done: "deleted the secret {0}",
	})
}

var secretSet = remote.Verb{
	Use: "set NAME", Short: "Create a secret, or change its value or its groups",
	Long: `Make a secret, or give the one of that name another value. The value is read
from a file, from standard input (-), or asked for without being shown. The end
of its last line is not part of it. What is not given stays.

Jobs of its groups may use it; without --group a new secret is for every group,
which only admins may say. --keep-value changes its groups and its description
alone. Jobs that name it keep it unless --force takes it from them.`,
	Example: "secret set billing-token\nsecret set billing-token --value-file token.txt",
	Piped:   "\n  vault read -field=value secret/billing | platform-scheduler secret set billing-token --value-file -",
	Own: []remote.Flag{
		{Name: "value-file", Help: "read the value from `FILE`; - is standard input"},
		{Name: "description", Help: "what it is for"},
		{
			Name: "group", Default: remote.Each{},
			Help: "whose jobs may use it; may be repeated, \"all\" for every group",
		},
		{Name: "keep-value", Default: false, Help: "keep the value"},
		{Name: "force", Default: false, Help: "take it from groups even if their jobs name it"},
	},
	Run: setSecret,
}

func setSecret(k *remote.Call) (err error) {
	name, groups := k.Args[0], k.Listed("group")
	body := map[string]any{}
	switch file := k.Given("value-file"); {
	case k.On("keep-value"):
	case file != "":
		body["value"], err = remote.Secret(file)
	default:
		body["value"], err = terminal.Unseen(k.Err, "value of "+name, "--value-file, where - is standard input")
	}
	if err != nil {
		return err
	}
	known, err := k.Named("/secrets", "name", name)
	if err != nil {
		return err
	}
	body["description"] = known.Text("description")
	if len(groups) > 0 {
		body["groups"] = groups
	}
	if len(groups) == 1 && groups[0] == "all" {
		body["groups"] = []string{}
	}
	if k.Changed("description") {
		body["description"] = k.Given("description")
	}
	method, path, done := "POST", "/secrets", "made"
	if known != nil {
		method, path, done = "PUT", "/secrets/{0}", "changed"
		body["version"] = known["version"]
		if k.On("force") {
			body["force"] = true
		}
	} else {
		body["name"] = name
	}
	o, err := k.Do(method, path, body)
	if err == nil {
		k.Finish(done+" the secret {name}, version {version}", o)
	}
	return err
}
