package alerts

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

var (
	ruleKind = kind{word: "rule", path: "/alert-rules", noun: "rule", columns: []remote.Column[setting]{
		column("type", func(v setting) string { return v.Type }), column("level", func(v setting) string { return v.Level }),
		channels(),
	}}
	routeKind = kind{word: "route", path: "/alert-routes", noun: "route", columns: []remote.Column[setting]{
		column("position", func(v setting) string { return fmt.Sprint(v.Position) }),
		column("match", func(v setting) string { return labelText(v.Match) }), channels(),
	}}
	channelKind = kind{
		word: "channel", path: "/alert-channels", noun: "channel", sealed: true, columns: []remote.Column[setting]{
			column("type", func(v setting) string { return v.Type }),
			column("language", func(v setting) string { return v.Language }),
			column("secrets", func(v setting) string { return strings.Join(v.Secrets, ",") }),
		},
	}
	templateKind = kind{word: "template", path: "/alert-templates", noun: "template", columns: []remote.Column[setting]{
		column("languages", setting.languages),
	}}
	teamKind = kind{word: "team", path: "/teams", noun: "team", columns: []remote.Column[setting]{
		column("members", func(v setting) string { return fmt.Sprint(len(v.Members)) }), channels(),
	}}
	contactKind = kind{word: "contact", path: "/contacts", noun: "contact", columns: []remote.Column[setting]{
		column("user", func(v setting) string { return v.UserID }),
		column("reached by", func(v setting) string {
			var ways []string
			for _, way := range []string{v.Email, v.Phone, v.ChatID} {
				if way != "" {
					ways = append(ways, way)
				}
			}
			return strings.Join(ways, ", ")
		}),
	}}
	onCallKind = kind{word: "on-call", path: "/on-call", noun: "on-call plan", columns: []remote.Column[setting]{
		column("zone", func(v setting) string { return v.TimeZone }),
		column("shifts", func(v setting) string { return fmt.Sprint(len(v.Shifts)) }),
	}}
)

// channels counts those that a definition names.
func channels() remote.Column[setting] {
	return column("channels", func(v setting) string { return fmt.Sprint(len(v.ChannelIDs)) })
}

func routeCommand(s *remote.Session) *cobra.Command {
	return routeKind.command(s, "Say where alerts go",
		"  platform-scheduler route list\n  platform-scheduler route create -f route.yaml")
}

func teamCommand(s *remote.Session) *cobra.Command {
	return teamKind.command(s, "Manage teams, who take care together",
		"  platform-scheduler team list\n  platform-scheduler team create -f team.yaml")
}

func contactCommand(s *remote.Session) *cobra.Command {
	return contactKind.command(s, "Say how users are reached",
		"  platform-scheduler contact list\n  platform-scheduler contact create -f contact.yaml")
}

func onCallCommand(s *remote.Session) *cobra.Command {
	return onCallKind.command(s, "Plan which team is on call, and when",
		"  platform-scheduler on-call list\n  platform-scheduler on-call create -f on-call.yaml")
}
