package alerts

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

var ruleValidate = remote.Verb{
	Use: "validate", Short: "Check the rule in a file, and keep nothing", Example: "rule validate -f rule.yaml",
	Own: []remote.Flag{file}, Method: "POST", Path: "/alert-rules/validate", Done: "the rule is good",
	Body: func(k *remote.Call, _ map[string]any) (any, error) { return readFile(k) },
}

var ruleDryRun = remote.Verb{
	Use: "dry-run [RULE]", Short: "Show which alerts a rule would have raised",
	Long: "Show which alerts a rule, or the one in a file, would have raised in the past: by\ndefault in the last day. " +
		"Nobody is told, and nothing is kept.",
	Example: "rule dry-run \"billing fails\"\nrule dry-run -f rule.yaml --from 2026-11-14 --to 2026-11-15",
	Own:     []remote.Flag{file}, Span: "this machine", Check: oneOf("rule"),
	Method: "POST", Path: "/alert-rules/dry-run",
	Body: func(k *remote.Call, params map[string]any) (_ any, err error) {
		now := k.Clock.Now()
		body := map[string]any{"to": remote.Sent(now), "from": remote.Sent(now.Add(-24 * time.Hour))}
		maps.Copy(body, params)
		body["rule"], err = fileOrNamed(k, ruleKind)
		return body, err
	},
	Show: func(k *remote.Call, o remote.Object) {
		k.Describe("From=from|moment, To=to|moment, Alerts=total, Evidence=evidence, "+
			"Runs looked at=executions", o)
		for _, note := range o.Texts("notes") {
			k.Notef("%s", note)
		}
		if o.Is("truncated") {
			k.Notef("a bound was reached: there may be more")
		}
		k.Below("from=startTime|moment, until=endTime|moment, count, content", o.List("alerts"))
	},
}

// oneOf refuses a file beside an argument, and neither of them.
func oneOf(word string) func(k *remote.Call) error {
	return func(k *remote.Call) error {
		if len(k.Args) == 1 == (k.Given(file.Name) != "") {
			return usage.Errorf("name a %s, or a file with -f", word)
		}
		return nil
	}
}

// fileOrNamed is the definition that a file holds, or the argument names.
func fileOrNamed(k *remote.Call, of kind) (remote.Object, error) {
	if k.Given(file.Name) != "" {
		return readFile(k)
	}
	return find(k, of, k.Args[0])
}

var templatePreview = remote.Verb{
	Use: "preview [TEMPLATE]", Short: "Show what a template makes of a sample alert",
	Long:    "Show what a template, or the one in a file, makes of a sample alert. Nothing is sent\nor kept.",
	Example: "template preview billing\ntemplate preview -f template.yaml --channel-type SLACK --language zh",
	Own:     []remote.Flag{file},
	Flags: []remote.Flag{
		{Name: "language", Help: "that of the message: en or zh; en by default"},
		{
			Name: "channel-type", As: "channelType",
			Help: "the type of channel that it is for, such as SLACK; EMAIL by default",
		},
	},
	Check: oneOf("template"), Method: "POST", Path: "/alert-templates/preview", Show: asYAML,
	Body: func(k *remote.Call, params map[string]any) (any, error) {
		body, err := fileOrNamed(k, templateKind)
		if err != nil {
			return nil, err
		}
		// An unknown name stays, so that the server names it.
		for _, name := range []string{"id", "name", "group", "enabled", "version", "createTime", "updateTime"} {
			delete(body, name)
		}
		maps.Copy(body, params)
		return body, nil
	},
}

var silenceCreate = remote.Verb{
	Use: "create", Short: "Silence alerts that have these labels",
	Long: `Silence alerts that have all of these labels. The alerts themselves go on. Every
alert has the labels alertname and severity, and where it is about one, group,
node and those of its job. See platform-scheduler alert get.`,
	Example: "silence create --match job=\"settle orders\" --for 2h\nsilence create --match severity=WARNING " +
		"--group billing --from 22:00 --to 2026-11-15T06:00:00Z",
	Flags: []remote.Flag{
		{Name: "name", Help: "a name, to find it by"},
		{Name: "group", Help: "silence only alerts of this group"},
		{Name: "comment", Help: "why, for others"},
	},
	Own: append(remote.Span("this machine"), file, remote.Flag{
		Name: "match", Default: remote.Each{},
		Help: "a label that alerts must have, as `NAME=VALUE`; may be repeated",
	}, remote.Flag{Name: "for", Default: time.Duration(0), Help: "how long it holds, such as 2h"}),
	Method: "POST", Path: silenceKind.path, Done: silenceKind.stored("created"), Body: silenceBody,
}

// silenceBody is what the API takes.
func silenceBody(k *remote.Call, body map[string]any) (any, error) {
	labels := k.Listed("match")
	if k.Given(file.Name) != "" {
		if len(labels) > 0 {
			return nil, usage.Errorf("give a file or --match, not both")
		}
		return readFile(k)
	}
	match := map[string]string{}
	for _, text := range labels {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage.Errorf("--match must be a label such as team=billing, not %q", text)
		}
		match[name] = value
	}
	length := k.Length("for")
	from, err := k.At("from", "")
	if err != nil {
		return nil, err
	}
	to, err := k.At("to", "")
	if err != nil {
		return nil, err
	}
	if len(match) == 0 || (length > 0) != to.IsZero() || length < 0 {
		return nil, usage.Errorf("say what to silence with --match, and until when with --for or --to")
	}
	begin := from
	if from.IsZero() {
		begin = k.Clock.Now()
	} else {
		body["from"] = remote.Sent(from)
	}
	if length > 0 {
		to = begin.Add(length)
	}
	body["match"], body["to"] = match, remote.Sent(to)
	return body, nil
}

// secretFile names a file of a secret of a configuration.
var secretFile = remote.Flag{
	Name: "secret-file", Default: remote.Each{},
	Help: "read a secret of the configuration from a file, as `FIELD=FILE` (headers.X-Key=FILE for a header); " +
		"- is standard input; may be repeated",
}

// addSecrets puts the secrets that flags name into the configuration of a body.
func addSecrets(k *remote.Call, body map[string]any) error {
	given := k.Given(file.Name) == "-"
	for _, text := range k.Listed(secretFile.Name) {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return usage.Errorf("--secret-file must be FIELD=FILE, such as password=password.txt")
		}
		if file == "-" && given {
			return usage.Errorf("standard input can be read once: name another file for %s", name)
		}
		given = given || file == "-"
		value, err := remote.Secret(file)
		if err != nil {
			return fmt.Errorf("read the secret %s: %w", name, err)
		}
		config, ok := body["config"].(map[string]any)
		if !ok {
			config = map[string]any{}
			body["config"] = config
		}
		put(config, name, value)
	}
	return nil
}

// put gives a field a value; a field with a dot is one of an object, and secrets is a list.
func put(config map[string]any, name, value string) {
	field, key, nested := strings.Cut(name, ".")
	switch {
	case nested:
		part, ok := config[field].(map[string]any)
		if !ok {
			part = map[string]any{}
			config[field] = part
		}
		part[key] = value
	case field == "secrets":
		list, _ := config[field].([]any)
		config[field] = append(list, value)
	default:
		config[field] = value
	}
}

var channelTest = remote.Verb{
	Short: "Send a test message through a channel",
	Long: "Send a test message through a channel, also one that is switched off. It exits with 1\nunless the " +
		"receiver took it. One test of a channel in 5 s.",
	Run: func(k *remote.Call) error {
		tried, err := k.Do("POST", channelKind.path+"/{id}/test", nil)
		if err == nil && !k.ForPeople() {
			k.Raw(k.Answer)
		}
		if err == nil && tried.Text("result") != "SENT" {
			err = errors.New(k.Sentence("the message ended as {result} ({code}): {message}", tried))
		}
		if err == nil {
			k.Say("the channel {found} took the message after {durationMs|took}", tried)
		}
		return err
	},
}
