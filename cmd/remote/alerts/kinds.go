package alerts

import (
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

// kind is one kind of what people define for alerting.
type kind struct {
	// word is that of the commands; path is that of the API.
	word, path, noun, short string
	// columns are those of a list that not all kinds have.
	columns string
	// example is that of its command, where it shows more than list and create.
	example string
	// sealed: it has secrets, which files hold.
	sealed bool
}

var (
	ruleKind = kind{
		word: "rule", path: "/alert-rules", noun: "rule", short: "Say what is worth an alert",
		example: "rule list\nrule dry-run -f rule.yaml --from 2026-11-14", columns: "type, level, channels=channelIds|count",
	}
	routeKind = kind{
		word: "route", path: "/alert-routes", noun: "route", short: "Say where alerts go",
		columns: "position, match|comma, channels=channelIds|count",
	}
	channelKind = kind{
		word: "channel", path: "/alert-channels", noun: "channel", sealed: true,
		short: "Manage channels, by which alerts reach people and programs",
		example: "channel create -f mail.yaml --secret-file password=password.txt\n" +
			"channel test \"mail to billing\"",
		columns: "type, language, secrets|comma",
	}
	templateKind = kind{
		word: "template", path: "/alert-templates", noun: "template", short: "Manage templates of messages",
		example: "template list\ntemplate preview -f template.yaml --language zh", columns: "languages",
	}
	teamKind = kind{
		word: "team", path: "/teams", noun: "team", short: "Manage teams, who take care together",
		columns: "members|count, channels=channelIds|count",
	}
	contactKind = kind{
		word: "contact", path: "/contacts", noun: "contact", short: "Say how users are reached",
		columns: "user=userId, reached by",
	}
	onCallKind = kind{
		word: "on-call", path: "/on-call", noun: "on-call plan", short: "Plan which team is on call, and when",
		columns: "zone=timeZone, shifts|count",
	}
	silenceKind = kind{
		word: "silence", path: "/alert-silences", noun: "silence",
		short:   "Hold back the messages of alerts for a time",
		example: "silence create --match job=\"settle orders\" --for 2h --comment \"the ledger moves\"",
		columns: "match|comma, from|moment, to|moment, active, by, comment",
	}
	kinds = []kind{ruleKind, routeKind, channelKind, templateKind, teamKind, contactKind, onCallKind, silenceKind}
)

// settingWords are what a definition is in words.
var settingWords = remote.Words{
	"group": remote.If("group", "{group|text}", "all groups"),
	"state": remote.If("enabled", "on", "off"),
	// The languages in which a template says something.
	"languages": func(_ *remote.Call, o remote.Object) string {
		all := map[string]any{}
		for _, name := range []string{"title", "text", "html", "markdown"} {
			texts, _ := o[name].(map[string]any)
			maps.Copy(all, texts)
		}
		return strings.Join(slices.Sorted(maps.Keys(all)), ",")
	},
	"reached by": func(_ *remote.Call, o remote.Object) string {
		ways := []string{o.Text("email"), o.Text("phone"), o.Text("chatId")}
		return strings.Join(slices.DeleteFunc(ways, func(way string) bool { return way == "" }), ", ")
	},
}
