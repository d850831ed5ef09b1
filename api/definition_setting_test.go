package api_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// exampleOfSettings is the shipped example as the command line sends it.
func exampleOfSettings(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../configs/examples/alerting/settings.yaml")
	require.NoError(t, err)
	out := strings.Replace(string(text), "{env: SLACK_WEBHOOK}", "http://127.0.0.1:1/services/canary", 1)
	return regexp.MustCompile(`\{env: \w+\}`).ReplaceAllString(out, "canary")
}

// become are the actions of an answer to a document, by kind and name.
func become(a answer) map[string]string {
	out := map[string]string{}
	list, _ := a.json()["alerting"].([]any)
	for _, one := range list {
		s := one.(map[string]any)
		out[fmt.Sprint(s["kind"], " ", s["name"])] = fmt.Sprint(s["action"])
		if failed, is := s["error"].(map[string]any); is {
			out[fmt.Sprint(s["kind"], " ", s["name"])] = fmt.Sprint(failed["code"])
		}
	}
	return out
}

func (e *edge) exported() string {
	e.t.Helper()
	return e.call("GET", "/api/v1/export?parts=all", "").want(200).body
}

// The shipped example has a setting of every kind. It is applied once, changes nothing again, and an export of it
// makes the same on another server: only secrets have to be given there.
func TestSettingsGoFromServerToServer(t *testing.T) {
	e, example := newEdge(t), exampleOfSettings(t)
	dry := e.send("?dryRun=true", example).want(200)
	require.EqualValues(t, 9, dry.json()["created"], "a dry run says what would become of all")
	require.NotContains(t, e.exported(), "operations", "and makes nothing")
	made := e.send("", example).want(200)
	require.Equal(t, map[string]string{
		"CHANNEL operations mail": "CREATE", "CHANNEL operations chat": "CREATE", "TEMPLATE short": "CREATE",
		"CONTACT admin": "CREATE", "TEAM operations": "CREATE", "ON_CALL operations": "CREATE",
		"RULE three failures in a row": "CREATE", "ROUTE critical": "CREATE",
		"SILENCE the freeze of the year's end": "CREATE",
	}, become(made))
	require.NotContains(t, made.body, "canary")
	require.EqualValues(t, 9, e.send("", example).want(200).json()["unchanged"])
	text := e.exported()
	require.NotContains(t, text, "canary")
	require.EqualValues(t, 9, e.send("", text).want(200).json()["unchanged"], "a hidden secret is the stored one")

	other := newEdge(t)
	moved := other.send("", text).want(200)
	require.EqualValues(t, 9, moved.json()["created"])
	require.Equal(t, 2, strings.Count(moved.body, "missing_secret"), moved.body)
	channel := regexp.MustCompile(`(- name: operations (chat|mail)\n)( +enabled: false\n)`)
	again := other.exported()
	require.Len(t, channel.FindAllString(again, -1), 2, "channels without their secrets are disabled")
	again = channel.ReplaceAllString(again, "$1")
	hidden := regexp.MustCompile(`(      config:\n)?        (webhook|password): "\*\*\*"\n`)
	require.Equal(t, hidden.ReplaceAllString(text, ""), hidden.ReplaceAllString(again, ""))
	require.EqualValues(t, 2, other.send("", example).want(200).json()["updated"], "the secrets alone are missing")
	require.EqualValues(t, 9, e.send("", other.exported()).want(200).json()["unchanged"])
}

func TestAllMistakesOfSettingsAreToldAtOnce(t *testing.T) {
	e := newEdge(t)
	_, fields := e.send("", `version: 1
alerting:
  channels:
    - {name: a, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x", colour: red}}
    - {name: a, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x"}}
    - {name: b, type: PIGEON}
  templates:
    - {name: t, title: {en: "{{"}}
  contacts:
    - {name: c, user: nobody, email: "c@example.com"}
    - {name: h, user: admin, email: "***"}
  teams:
    - {name: t, members: [admin, ghost], channels: [nowhere]}
  onCall:
    - {name: o, timeZone: Mars, shifts: [{team: missing, from: "25:00", to: "09:00"}]}
  rules:
    - {type: JOB_FAILED, level: WARNING}
    - {name: r, type: JOB_FAILED, level: LOUD, scope: {jobs: [default/none]}}
    - {name: s, type: JOB_FAILED, level: WARNING, channelIds: [x]}
  routes:
    - {name: r, channels: [a, nowhere], onCall: o, template: missing}
  silences:
    - {name: s, match: {a: b}, to: tomorrow}
  robots: []
`).want(422).problem()
	for field, code := range map[string]string{
		"alerting.channels[0].config.colour": "unknown_field", "alerting.channels[1].name": "duplicate",
		"alerting.channels[2].type": "unknown_value", "alerting.templates[0].title.en": "invalid",
		"alerting.contacts[0].user": "unknown_user", "alerting.contacts[1].email": "hidden_value",
		"alerting.teams[0].members[1]": "unknown_user", "alerting.teams[0].channels[0]": "unknown_name",
		"alerting.onCall[0].shifts[0].team": "unknown_name", "alerting.onCall[0].shifts[0].from": "invalid_time",
		"alerting.onCall[0].timeZone": "", "alerting.rules[0].name": "required", "alerting.rules[1].level": "unknown_value",
		"alerting.rules[1].scope.jobs[0]": "unknown_job", "alerting.rules[2].channelIds": "body_field",
		"alerting.routes[0].channels[1]": "unknown_name", "alerting.routes[0].template": "unknown_name",
		"alerting.silences[0].to": "invalid_time", "alerting.robots": "unknown_field",
	} {
		require.Contains(t, fields, field)
		if code != "" {
			require.Equal(t, code, fields[field], field)
		}
	}
	require.NotContains(t, fields, "alerting.routes[0].channels[0]", "the document makes it")
	require.NotContains(t, fields, "alerting.routes[0].onCall")
	require.NotContains(t, e.exported(), "alerting:\n  channels", "nothing was changed")
}

// A document may make the jobs that its rules name; the job's channel is one of the document, too.
func TestRulesNameJobsOfTheirDocument(t *testing.T) {
	e := newEdge(t)
	text := `version: 1
groups: [{name: pay}]
jobs:
- {name: settle, group: pay, jobType: CUSTOM, jobClass: noop, alerts: {onFailure: [hook]}}
- {name: mend, group: pay, jobType: CUSTOM, jobClass: noop}
alerting:
  channels:
    - {name: hook, group: pay, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x"}}
  rules:
    - name: settle fails
      group: pay
      type: JOB_FAILED
      level: WARNING
      scope: {jobs: [pay/settle]}
      actions: [{kind: RUN_JOB, job: pay/mend}]
`
	require.NotContains(t, e.send("?dryRun=true", text).want(200).body, "unknown_channel")
	made := e.send("", text).want(200)
	require.EqualValues(t, 4, made.json()["created"], made.body)
	require.NotContains(t, made.body, "warnings")
	require.EqualValues(t, 4, e.send("", text).want(200).json()["unchanged"])
	rules, err := e.Store.AlertSettings(t.Context(), []alert.Kind{alert.KindRule}, 100)
	require.NoError(t, err)
	for _, stored := range rules {
		rule, err := alert.Read[alert.Rule](stored)
		require.NoError(t, err)
		if rule.Name == "settle fails" {
			require.Len(t, rule.Scope.JobIDs[0], len(rule.ID), "the id of the job is stored")
			require.Equal(t, "id-of-admin", rule.EditorID, "it acts with the rights of the caller")
		}
	}
	e.call("DELETE", "/api/v1/jobs/"+e.all()[0].ID, "").want(204)
	e.call("DELETE", "/api/v1/jobs/"+e.all()[0].ID, "").want(204)
	require.Contains(t, e.exported(), `# left out, because what it names is gone, or it cannot be read: "alert rule settle`)
}

func TestPruneKeepsToTheKindsAndGroupsOfTheDocument(t *testing.T) {
	e := newEdge(t)
	setting := func(kind, name, group, more string) string {
		return fmt.Sprintf("  %s:\n    - {name: %s, group: %s, %s}\n", kind, name, group, more)
	}
	hook, rule := `type: WEBHOOK, config: {url: "http://127.0.0.1:1/x"}`, "type: JOB_FAILED, level: WARNING"
	const begin = "version: 1\nalerting:\n"
	for _, group := range []string{"one", "two", "null"} {
		e.send("", begin+setting("channels", "hook-"+group, group, hook)+setting("rules", "rule-"+group, group, rule)+
			setting("routes", "route-"+group, group, "channels: [hook-"+group+"]")).want(200)
	}
	require.NoError(t, e.Store.AddAlertSetting(t.Context(), alert.Setting{
		Head: alert.Head{ID: "default", Name: "default: x", Enabled: true, Version: 1, CreateTime: now, UpdateTime: now},
		Kind: alert.KindRule, Document: `{"type":"JOB_FAILED","level":"WARNING","default":"x"}`,
	}))
	pruned := e.send("?prune=true", begin+setting("rules", "new", "one", rule)+"  routes: []\n").want(200)
	require.Equal(t, map[string]string{"RULE new": "CREATE", "RULE rule-one": "DELETE", "ROUTE route-one": "DELETE"},
		become(pruned), "neither another kind nor another group")
	pruned = e.send("?prune=true", "version: 1\ngroups: [{name: one}]\nalerting: {channels: [], rules: []}\n").want(200)
	require.Equal(t, map[string]string{"CHANNEL hook-one": "DELETE", "RULE new": "DELETE"}, become(pruned))
	pruned = e.send("?prune=true", begin+"  channels: []\n"+setting("rules", "all", "null", rule)).want(200)
	require.Equal(t, map[string]string{
		"RULE all": "CREATE", "RULE rule-null": "DELETE",
		"CHANNEL hook-null": "in_use",
	}, become(pruned), "rules of the first start stay, and what others name")
	require.Contains(t, e.exported(), "default: x")
}

func TestSettingsOfADocumentAreThoseOfItsSender(t *testing.T) {
	e := newEdge(t)
	e.send("", exampleOfSettings(t)).want(200)
	e.send("", "version: 1\nalerting:\n  rules:\n    - {name: theirs, group: theirs, type: JOB_FAILED, level: INFO}\n").
		want(200)
	bound := e.bindOperator(map[string]entity.Role{"mine": entity.RoleAdmin})
	rule := func(name, group string) string {
		return fmt.Sprintf("version: 1\nalerting:\n  rules:\n    - {name: %s, group: %s, type: JOB_FAILED, level: INFO}\n",
			name, group)
	}
	e.send("", rule("a", "null"), bound...).wantCode(403, "forbidden")
	e.send("", rule("a", "theirs"), bound...).wantCode(403, "forbidden")
	e.send("", rule("theirs", "mine"), bound...).wantField(422, "alerting.rules[0].name", "name_taken")
	e.send("", rule("a", "mine"), bound...).want(200)
	logged := e.call("GET", "/api/v1/audit-logs?objectName=a", "").want(200).json()["items"].([]any)
	require.Equal(t, "POST /api/v1/import", logged[0].(map[string]any)["action"])
	text := e.call("GET", "/api/v1/export?parts=alerting", "", bound...).want(200).body
	require.Contains(t, text, "name: a\n")
	require.NotContains(t, text, "operations", "those for all groups are for callers who are bound to none")
	require.NotContains(t, text, "theirs")
}

// The audit log and the answer say what was changed, by names and without secrets.
func TestChangesOfSettingsAreToldWithoutSecrets(t *testing.T) {
	e := newEdge(t)
	e.send("", exampleOfSettings(t)).want(200)
	changed := strings.NewReplacer("channels: [operations chat]", "channels: [operations mail]", "password: canary",
		"password: canary-2", "admin@example.com", "canary@example.com").Replace(exampleOfSettings(t))
	a := e.send("", changed).want(200)
	require.EqualValues(t, 3, a.json()["updated"], a.body)
	require.NotContains(t, a.body, "canary")
	require.Contains(t, a.body, `"channels":[["operations chat"],["operations mail"]]`)
	require.Contains(t, a.body, fmt.Sprintf(`"config":[%q,%q]`, sensitive.Hidden, sensitive.Hidden))
	entries, _, err := e.Store.ListAudit(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 10})
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%+v", entries), "canary")
	require.NotContains(t, e.log.String(), "canary")
}

// A text that an export hides is never taken for a value, and a channel that works is not disabled by a document.
func TestHiddenSecretsAreNoValues(t *testing.T) {
	channel := func(name, config string) string {
		return fmt.Sprintf("version: 1\nalerting:\n  channels:\n    - {name: %s, type: WEBHOOK, config: {%s}}\n", name,
			config)
	}
	const whole = `url: "http://127.0.0.1:1/x?token=s3cret&x=y", headers: {Authorization: canary}`
	const open = `url: "http://127.0.0.1:1/x?token=s3cret&x=y"`
	for name, c := range map[string]struct{ stored, config, field, code string }{
		"a part of the query": {open, `url: "http://127.0.0.1:1/x?token=***&x=z"`, "config.url", "required"},
		"another host": {
			whole, `url: "http://127.0.0.2:1/x?token=***&x=***", headers: "***"`, "config.headers", "required",
		},
		"a part of the header": {
			whole, `url: "http://127.0.0.1:1/x?token=a", headers: {Authorization: "***"}`, "config.headers", "hidden_value",
		},
		"an empty address": {open, `url: ""`, "config.url", "required"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.send("", channel("c", c.stored)).want(200)
			e.send("", channel("c", c.config)).wantField(422, "alerting.channels[0]."+c.field, c.code)
			require.EqualValues(t, 1, e.send("", channel("c", c.stored)).want(200).json()["unchanged"])
		})
	}
	e := newEdge(t)
	for name, config := range map[string]string{
		"headers": `url: "http://127.0.0.1:1/x", headers: "***"`, "url": `url: "http://127.0.0.1:1/x?***"`,
		"secret": `url: "http://127.0.0.1:1/x", secret: "***"`,
	} {
		made := e.send("", channel("new-"+name, config)).want(200)
		require.Contains(t, made.body, `"field":"config.`+name+`","code":"missing_secret"`)
		require.Contains(t, e.exported(), "new-"+name+"\n      enabled: false\n")
	}
	require.EqualValues(t, 3, e.send("", e.exported()).want(200).json()["unchanged"])
}

// A stored setting that cannot be read, or opened, stops nothing but itself (engine rule 10).
func TestABrokenSettingStopsNoDocument(t *testing.T) {
	e := newEdge(t)
	e.send("", exampleOfSettings(t)).want(200)
	head := alert.Head{ID: "broken", Name: "broken", Enabled: true, Version: 1, CreateTime: now, UpdateTime: now}
	broken := alert.Setting{Head: head, Kind: alert.KindRoute, Document: "{not"}
	require.NoError(t, e.Store.AddAlertSetting(t.Context(), broken))
	const route = "version: 1\nalerting:\n  routes:\n    - {name: NAME, channels: [operations chat]}\n"
	e.send("", strings.Replace(route, "NAME", "broken", 1)).wantField(422, "alerting.routes[0].name", "unreadable")
	pruned := e.send("?prune=true", strings.Replace(route, "NAME", "mine", 1)).want(200)
	require.Equal(t, map[string]string{"ROUTE mine": "CREATE", "ROUTE critical": "DELETE"}, become(pruned))
	require.Contains(t, e.exported(), `"alert route broken"`)
	require.Contains(t, e.call("GET", "/api/v1/alert-routes", "").want(200).body, `"name":"mine"`, "the others are listed")
	e.call("GET", "/api/v1/alert-routes/broken", "").wantCode(409, "unreadable")
	e.call("DELETE", "/api/v1/alert-routes/broken", "").wantCode(409, "unreadable")
	all, err := e.Store.AlertSettings(t.Context(), []alert.Kind{alert.KindChannel}, 10)
	require.NoError(t, err)
	for _, one := range all {
		one.KeyID, one.Version = "another", one.Version+1
		require.NoError(t, e.Store.ReplaceAlertSetting(t.Context(), one))
	}
	e.send("", e.exported()).wantField(422, "alerting.channels[0].config", "unreadable_secret")
	require.EqualValues(t, 2, e.send("", exampleOfSettings(t)).want(200).json()["updated"], "all secrets are given")
}

// A document sees no more than its sender: one answer for what is not there and what is hidden.
func TestNamesOfOthersDoNotShow(t *testing.T) {
	e := newEdge(t)
	e.create(encode(t, minimal().with(fields{"group": "theirs", "name": "job"})))
	e.send("", "version: 1\nalerting:\n  channels:\n    - {name: hook, group: theirs, type: WEBHOOK, "+
		"config: {url: \"http://127.0.0.1:1/x\"}}\n").want(200)
	bound := e.bindOperator(map[string]entity.Role{"mine": entity.RoleAdmin})
	ask := func(rest string) map[string]string {
		_, fields := e.send("?dryRun=true", "version: 1\nalerting:\n  rules:\n    - {name: r, group: mine, type: JOB_FAILED, "+
			"level: INFO, "+rest+"}\n", bound...).want(422).problem()
		return fields
	}
	require.Equal(t, ask("channels: [none]"), ask("channels: [hook]"))
	const run = "actions: [{kind: RUN_JOB, job: theirs/"
	require.Equal(t, ask(run+"none}]"), ask(run+"job}]"))
	long := ask("scope: {jobs: [" + strings.Repeat("a/", 100_000) + "a]}")
	require.Equal(t, "unknown_job", long["alerting.rules[0].scope.jobs[0]"])
	e.send("", "version: 1\nalerting:\n  channels:\n    - {name: hook, group: theirs, type: SLACK, bogus: 1}\n", bound...).
		wantCode(403, "forbidden")
}

// A restore that is repeated changes nothing, and nobody can switch a channel on that would send to a hidden address.
func TestARestoreIsRepeated(t *testing.T) {
	e := newEdge(t)
	text := `version: 1
alerting:
  channels:
    - {name: signed, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x", secret: "***"}}
    - {name: tokened, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x?token=***"}}
`
	e.send("", text).want(200)
	again := e.send("", text).want(200)
	require.EqualValues(t, 2, again.json()["unchanged"], again.body)
	require.Equal(t, 2, strings.Count(again.body, "missing_secret"))
	for _, item := range e.call("GET", "/api/v1/alert-channels", "").want(200).json()["items"].([]any) {
		if c := item.(map[string]any); c["name"] == "tokened" {
			require.Equal(t, false, c["enabled"])
			e.call("PUT", fmt.Sprint("/api/v1/alert-channels/", c["id"]), `{"name":"tokened","type":"WEBHOOK","version":1}`).
				wantField(422, "config.url", "hidden_value")
		}
	}
}

// A plan that prunes tells by names what changes, and what cannot be deleted, before anything is done.
func TestAPlanThatPrunesTellsAll(t *testing.T) {
	e := newEdge(t)
	hook := func(name string) string {
		return "    - {name: " + name + `, group: pay, type: WEBHOOK, config: {url: "http://127.0.0.1:1/x"}}` + "\n"
	}
	const begin, team = "version: 1\nalerting:\n  channels:\n", "  teams:\n    - {name: t, group: pay, channels: [%s]}\n"
	e.send("", begin+hook("a")+hook("b")+hook("c")+fmt.Sprintf(team, "a")).want(200)
	e.send("", "version: 1\nalerting:\n  routes:\n    - {name: r, channels: [c]}\n").want(200)
	for _, query := range []string{"?prune=true&dryRun=true", "?prune=true"} {
		plan := e.send(query, begin+hook("b")+fmt.Sprintf(team, "b")).want(200)
		require.Contains(t, plan.body, `"channels":[["a"],["b"]]`)
		require.Equal(t, map[string]string{
			"CHANNEL b": "UNCHANGED", "TEAM t": "UPDATE", "CHANNEL a": "DELETE", "CHANNEL c": "in_use",
		}, become(plan))
	}
	_, fields := e.send("?prune=true&dryRun=true", begin+hook("a")+fmt.Sprintf(team, "b")).want(422).problem()
	require.Contains(t, fields, "alerting.teams[0].channels[0]")
}

// A kind of setting that the domain has is one of documents, too.
func TestADocumentHoldsEveryKind(t *testing.T) {
	e := newEdge(t)
	require.ElementsMatch(t, alert.Kinds(), definition.SettingKinds())
	for _, kind := range alert.Kinds() {
		require.NotEmpty(t, vo.SettingList(kind), kind)
		require.NotNil(t, e.Alerting.Of(kind), kind)
		v, err := alert.ReadAny(alert.Setting{Kind: kind, Document: "{}"})
		require.NoError(t, err)
		entry, err := vo.SettingEntry(v)
		require.NoError(t, err)
		require.NotEqual(t, "null", string(entry), kind)
		_, fields := e.send("", "version: 1\nalerting: {"+vo.SettingList(kind)+": [{}]}\n").want(422).problem()
		require.Contains(t, fields, "alerting."+vo.SettingList(kind)+"[0].name")
	}
}
