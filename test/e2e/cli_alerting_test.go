//go:build linux

package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

const hookKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// alertingCommands says every command of alerting, where a job has failed.
func alertingCommands(t *testing.T, s *shell, w *wiretap, say func(args ...string) string,
	first func(list string) string,
) {
	t.Helper()
	receiver := notifytest.NewReceiver(t, notifytest.Answer(http.StatusOK, ""))
	hook := s.file("hook.yaml", "name: hook\ntype: WEBHOOK\nconfig: {url: \""+receiver.URL+"/in\"}\n")
	key, header := s.file("key", hookKey+"\n"), s.file("header", "header-value-42\n")
	say("channel", "create", "-f", hook, "--secret-file", "secret="+key, "--secret-file", "headers.X-Key="+header)
	for _, out := range []string{say("channel", "list"), say("channel", "get", "hook"), s.must("channel", "get", "hook")} {
		require.NotContains(t, out, hookKey)
		require.NotContains(t, out, "header-value-42")
		require.Contains(t, out, "headers")
	}
	require.Contains(t, say("channel", "test", "hook"), `"result":"SENT"`)
	require.Equal(t, "header-value-42", receiver.Calls()[0].Header.Get("X-Key"))
	require.NotEmpty(t, receiver.Calls()[0].Header.Get("webhook-signature"))
	say("channel", "edit", "hook", "--secret-file", "headers.X-Key="+key)
	say("channel", "edit", "hook", "--disable")
	say("channel", "edit", "hook", "--enable")

	text := s.file("template.yaml", "name: short\ntitle: {en: \"own {{.Subject}}\", zh: \"自己的 {{.Subject}}\"}\n")
	say("template", "create", "-f", text)
	say("template", "list")
	say("template", "get", "short")
	say("template", "edit", "short", "--disable")
	require.Contains(t, say("template", "preview", "short", "--language", "zh", "--channel-type", "SLACK"),
		"自己的 nightly_close")
	require.Contains(t, say("template", "preview", "-f", text), "own nightly_close")

	rule := s.file("rule.yaml", "name: fails\ntype: JOB_FAILED\nlevel: CRITICAL\nchannelIds: [hook]\n")
	say("rule", "validate", "-f", rule)
	say("rule", "create", "-f", rule)
	say("rule", "list")
	say("rule", "get", "fails")
	say("rule", "dry-run", "fails")
	say("rule", "edit", "fails", "--disable")
	code, _, errOut := s.run("channel", "delete", "hook", "--yes")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, `rule "fails"`, "what names it is told")
	w.heard()

	say("team", "create", "-f", s.file("team.yaml", "name: ledger\nchannelIds: [hook]\n"))
	var me struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(say("whoami")), &me))
	require.NotEmpty(t, me.ID)
	say("contact", "create", "-f", s.file("contact.yaml", "name: me\nuserId: "+me.ID+"\nemail: me@example.com\n"))
	say("on-call", "create", "-f", s.file("on-call.yaml",
		"name: nights\ntimeZone: UTC\nshifts: [{teamId: ledger, from: \"18:00\", to: \"09:00\"}]\n"))
	say("route", "create", "-f", s.file("route.yaml",
		"name: main\nchannelIds: [hook]\nonCallId: nights\ntemplateId: short\nmatch: {severity: INFO}\n"))
	say("silence", "create", "--match", "severity=INFO", "--for", "2h", "--name", "of a level")
	code, _, errOut = s.run("silence", "create", "--match", "job=nothing", "--for", "2h", "--name", "quiet")
	require.Zero(t, code, errOut)
	require.Contains(t, errOut, "warning: match.job: is the name of no job", "it is taken, as the job may come")
	for _, one := range [][2]string{
		{"silence", "quiet"}, {"route", "main"}, {"on-call", "nights"}, {"contact", "me"}, {"team", "ledger"},
	} {
		say(one[0], "list")
		say(one[0], "get", one[1])
		say(one[0], "edit", one[1], "--disable")
		say(one[0], "delete", one[1])
	}
	say("rule", "delete", "fails")
	say("template", "delete", "short")
	say("channel", "delete", "hook")

	lasts := []string{"JOB_FAILED", "CONSECUTIVE_FAILURES", "DEAD_LETTER"}
	var id string // of an alert that lasts: a busy machine raises others, which end by themselves
	require.Eventually(t, func() bool {
		var list struct {
			Items []struct{ ID, AlertType, Status string }
		}
		require.NoError(t, json.Unmarshal([]byte(s.must("alert", "list", "-o", "json")), &list))
		for _, a := range list.Items {
			if a.Status == "FIRING" && slices.Contains(lasts, a.AlertType) {
				id = a.ID
			}
		}
		return id != ""
	}, time.Minute, 50*time.Millisecond, "the failures raise an alert")
	w.heard()
	say("alert", "list", "--all")
	say("alert", "get", id)
	say("alert", "ack", id, "--comment", "the disk is full")
	say("alert", "resolve", id)
}
