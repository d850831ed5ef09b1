package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// fire stores an alert of a group; n tells their times apart.
func (e *edge) fire(n int, group string, change func(a *alert.Alert)) (id string) {
	e.t.Helper()
	at := now.Add(time.Duration(n) * time.Second)
	a := &alert.Alert{
		ID: identity.ExecutionID(at, group, "", n), Fingerprint: fmt.Sprint("f", n), Held: true, Type: alert.JobFailed,
		Level: alert.Warning, Status: alert.Firing, RuleID: "default-failed", RuleVersion: 1, Group: group,
		Labels: map[string]string{"group": group, "severity": "WARNING"}, Content: "it failed", Count: 2, PendingSince: at,
		StartTime: at, LastTime: at, EvidenceUntil: at, Seq: 1, CreateTime: at, UpdateTime: at, NotifyDue: at,
	}
	if change != nil {
		change(a)
	}
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		added, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a})
		require.Equal(e.t, []string{a.ID}, added)
		return err
	})
	return a.ID
}

// channel stores a channel of a group.
func (e *edge) channel(id, group string) {
	e.t.Helper()
	require.NoError(e.t, e.Store.AddAlertSetting(e.t.Context(), alert.Setting{
		Head: alert.Head{
			ID: id, Name: "name of " + id, Group: group, Enabled: true, Version: 1, CreateTime: now,
			UpdateTime: now,
		}, Kind: alert.KindChannel, Document: `{"type":"WEBHOOK"}`,
	}))
}

// ids are the ids of a list.
func (a answer) ids() (ids []string) {
	a.t.Helper()
	for _, item := range a.want(200).json()["items"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}

func (a answer) id() string { return a.json()["id"].(string) }

// A user who is bound to groups sees and steers the alerts of these alone; those of no group
// are for users who are bound to none.
func TestAlertsOfOtherGroupsDoNotExist(t *testing.T) {
	e := newEdge(t)
	mine, shown, theirs := e.fire(1, "mine", nil), e.fire(2, "shown", nil), e.fire(3, "theirs", nil)
	cluster := e.fire(4, "", func(a *alert.Alert) { a.Type, a.NodeID = alert.NodeDown, "n1" })
	as := as(boundToken)
	require.Equal(t, []string{shown, mine}, e.call("GET", "/api/v1/alerts", "", as...).ids())
	require.Equal(t, []string{cluster, theirs, shown, mine}, e.call("GET", "/api/v1/alerts", "").ids())
	require.Equal(t, []string{mine}, e.call("GET", "/api/v1/alerts?group=mine", "", as...).ids())
	require.Empty(t, e.call("GET", "/api/v1/alerts?group=theirs", "", as...).ids())
	require.Equal(t, []string{theirs}, e.call("GET", "/api/v1/alerts?group=theirs", "").ids())
	for id, want := range map[string][3]int{
		mine: {200, 200, 200}, shown: {200, 403, 403}, theirs: {404, 404, 404}, cluster: {404, 404, 404},
		"none": {404, 404, 404},
	} {
		path := "/api/v1/alerts/" + id
		e.call("GET", path, "", as...).want(want[0])
		e.call("POST", path+"/ack", "", as...).want(want[1])
		e.call("POST", path+"/resolve", "{}", as...).want(want[2])
	}
	require.Equal(t, "FIRING", e.call("GET", "/api/v1/alerts/"+theirs, "").want(200).json()["status"])
	e.call("POST", "/api/v1/alerts/"+theirs+"/ack", "", "Authorization", "Bearer "+viewerToken).wantCode(403, "forbidden")
	e.call("GET", "/api/v1/alerts/"+theirs, "", "Authorization", "Bearer "+viewerToken).want(200)
	e.call("GET", "/api/v1/alerts", "", "Authorization", "Bearer "+apiToken).wantCode(403, "forbidden")
}

func TestAlertsAreAcknowledgedAndResolved(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	id := e.fire(1, "default", func(a *alert.Alert) { a.JobID, a.Labels["job"] = job, "settle orders" })
	pending := e.fire(2, "default", func(a *alert.Alert) { a.Status = alert.Pending })
	e.channel("c1", "")
	e.Write(t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{{
			ID: "n-1", GroupKey: "k", ChannelID: "c1", Number: 1, State: alert.NotificationSuppressed, Why: "the silence x",
			NextTry: now, Alerts: []alert.NotifiedAlert{{AlertID: id, Seq: 1}}, CreateTime: now, UpdateTime: now,
		}})
	})
	path := "/api/v1/alerts/" + id
	got := e.call("GET", path, "").want(200).json()
	require.Equal(t, []any{"settle orders", "JOB_FAILED", "FIRING", 2.0}, []any{
		got["jobName"], got["alertType"], got["status"], got["count"],
	})
	told := got["deliveries"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"SUPPRESSED", "the silence x", "name of c1", 0.0}, []any{
		told["state"], told["why"], told["channelName"], told["attempt"],
	})
	require.Equal(t, got["deliveries"],
		e.call("GET", "/api/v1/alerts?jobId="+job, "").json()["items"].([]any)[0].(map[string]any)["deliveries"])

	e.call("POST", path+"/ack", `{"comment":"`+strings.Repeat("x", 1001)+`"}`).wantField(422, "comment", "too_long")
	e.call("POST", path+"/ack", `{"comment":"a\u0007"}`).wantField(422, "comment", "invalid")
	e.call("POST", "/api/v1/alerts/"+pending+"/ack", "").wantCode(409, "alert_pending")
	acked := e.call("POST", path+"/ack", `{"comment":"the disk is full"}`, as(operatorToken)...).want(200).json()
	require.Equal(t, []any{"ACKNOWLEDGED", "operator", "the disk is full"}, []any{
		acked["status"], acked["ackedBy"], acked["comment"],
	})
	entry := e.last()
	require.Equal(t, []string{id, "JOB_FAILED settle orders"}, []string{entry.Object, entry.ObjectName})
	require.JSONEq(t, `{"status":["FIRING","ACKNOWLEDGED"],"ackedBy":["","operator"],"comment":["","the disk is full"]}`,
		entry.Changes)
	again := e.call("POST", path+"/ack", "").want(200).json()
	require.Equal(t, "operator", again["ackedBy"], "the first one has it")
	over := e.call("POST", path+"/resolve", `{"comment":"grown"}`).want(200).json()
	require.Equal(t, []any{"RESOLVED", "MANUAL", "admin", "grown"}, []any{
		over["status"], over["resolution"], over["resolvedBy"], over["comment"],
	})
	e.call("POST", path+"/resolve", "").wantCode(409, "alert_resolved")
	e.call("POST", path+"/ack", "").wantCode(409, "alert_resolved")
}

func TestAlertsAreFiltered(t *testing.T) {
	e := newEdge(t)
	a := e.fire(1, "mine", func(a *alert.Alert) {
		a.Level, a.Labels["team"] = alert.Critical, "billing"
		a.Labels["city"], a.Labels["path"] = "Paris, Texas", `C:\`
	})
	b := e.fire(2, "mine", func(a *alert.Alert) { a.Status, a.Held = alert.Resolved, false })
	c := e.fire(3, "theirs", func(a *alert.Alert) { a.Type, a.NodeID, a.RuleID = alert.NodeDown, "n1", "r2" })
	for query, want := range map[string][]string{
		"status=FIRING": {c, a}, "status=RESOLVED": {b}, "status=FIRING,RESOLVED": {c, b, a}, "level=CRITICAL": {a},
		"type=NODE_DOWN": {c}, "nodeId=n1": {c}, "ruleId=r2": {c}, "labels=team%3Dbilling": {a},
		`labels=city%3DParis%5C,+Texas,team%3Dbilling`: {a}, `labels=path%3DC:%5C%5C`: {a},
		"labels=team%3Dbilling,severity%3DINFO": nil, "group=mine&status=FIRING": {a},
		"from=2026-11-20T12:00:02Z": {c, b}, "to=2026-11-20T12:00:02Z": {a}, "jobId=none": nil,
	} {
		require.Equal(t, want, e.call("GET", "/api/v1/alerts?"+query, "").ids(), query)
	}
	first := e.call("GET", "/api/v1/alerts?limit=2", "").want(200)
	require.Equal(t, []string{c, b}, first.ids())
	require.Equal(t, []string{a}, e.call("GET", "/api/v1/alerts?limit=2&cursor="+first.json()["nextCursor"].(string),
		"").ids())
}

// definitions are valid bodies of each kind that people define, by their addresses.
func definitions() map[string]fields {
	return map[string]fields{
		"alert-rules":    {"name": "r", "type": "FAILURE_RATE", "level": "WARNING", "threshold": 0.5, "windowSec": 600},
		"alert-silences": {"name": "s", "match": map[string]string{"job": "x"}, "to": "2026-11-21T00:00:00Z"},
		"alert-routes":   {"name": "t", "channelIds": []string{"c-all"}, "match": map[string]string{"severity": "CRITICAL"}},
		"teams":          {"name": "u", "members": []string{"id-of-ann"}},
		"contacts":       {"name": "v", "userId": "id-of-ann", "email": "ann@example.com"},
		"on-call": {
			"name": "w", "timeZone": "Asia/Shanghai",
			"shifts": []fields{{"teamId": "team", "days": []string{"SAT", "SUN"}, "from": "18:00", "to": "09:00"}},
		},
	}
}

// people are a team and channels that definitions name.
func (e *edge) people() {
	e.t.Helper()
	for id, group := range map[string]string{"c-all": "", "c-mine": "mine", "c-theirs": "theirs"} {
		e.channel(id, group)
	}
	team, err := alert.SettingOf[alert.Team](alert.KindTeam, &alert.Team{
		Head:    alert.Head{ID: "team", Name: "team", Enabled: true, Version: 1, CreateTime: now, UpdateTime: now},
		Members: []string{"id-of-ann"},
	})
	require.NoError(e.t, err)
	require.NoError(e.t, e.Store.AddAlertSetting(e.t.Context(), team))
}

// A definition lives its life: made, shown, listed, edited once a version, deleted;
// and the audit log tells what changed.
func TestDefinitionsOfAlertingLive(t *testing.T) {
	for kind, body := range definitions() {
		t.Run(kind, func(t *testing.T) {
			e := newEdge(t)
			e.people()
			root := "/api/v1/" + kind
			made := e.call("POST", root, encode(t, body), "Idempotency-Key", "k").want(201)
			id := made.id()
			require.Equal(t, root+"/"+id, made.header.Get("Location"))
			require.Equal(t, []any{`"1"`, 1.0, nil, true}, []any{
				made.header.Get("ETag"), made.json()["version"], made.json()["group"], made.json()["enabled"],
			})
			entry := e.last()
			require.Equal(t, []string{"POST " + root, id, body["name"].(string)},
				[]string{entry.Action, entry.Object, entry.ObjectName})
			require.Contains(t, entry.Changes, `"name":[null,`)
			require.Equal(t, made.body, e.call("POST", root, encode(t, body), "Idempotency-Key", "k").want(201).body)
			require.JSONEq(t, made.body, e.call("GET", root+"/"+id, "").want(200).body)
			require.Contains(t, e.call("GET", root, "").ids(), id)
			for field, want := range body {
				if field != "to" {
					require.Equal(t, encode(t, want), encode(t, without(made.json()[field], "rotateDays", "rotateFrom")), field)
				}
			}
			e.call("POST", root, encode(t, body)).wantCode(409, "name_taken")

			edit := body.with(fields{"enabled": false})
			e.call("PUT", root+"/"+id, encode(t, edit)).wantField(422, "version", "required")
			e.call("PUT", root+"/"+id, encode(t, edit.with(fields{"version": 7}))).wantCode(409, "stale_version")
			e.call("PUT", root+"/"+id, encode(t, edit), "If-Match", `"7"`).wantCode(412, "version_mismatch")
			e.call("PUT", root+"/"+id, encode(t, edit.with(fields{"version": 2})), "If-Match", `"1"`).
				wantField(422, "version", "conflict")
			e.call("PUT", root+"/"+id, encode(t, edit.with(fields{"group": "mine", "version": 1}))).
				wantField(422, "group", "unchangeable")
			second := e.call("PUT", root+"/"+id, encode(t, edit), "If-Match", `"1"`).want(200)
			require.Equal(t, []any{2.0, false}, []any{second.json()["version"], second.json()["enabled"]})
			require.JSONEq(t, `{"enabled":[true,false]}`, withoutText(e.last().Changes, "active"))
			// An answer may be sent back as it is.
			e.call("PUT", root+"/"+id, second.body).want(200)
			e.call("DELETE", root+"/"+id, "", "If-Match", `"1"`).wantCode(412, "version_mismatch")
			e.call("DELETE", root+"/"+id, "").want(204)
			e.call("GET", root+"/"+id, "").wantCode(404, "not_found")
			e.call("DELETE", root+"/"+id, "").wantCode(404, "not_found")
		})
	}
}

// without leaves out fields of the objects of a list.
func without(v any, names ...string) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			for _, name := range names {
				delete(object, name)
			}
		}
	}
	return list
}

func withoutText(object, name string) string {
	before, after, found := strings.Cut(object, `"`+name+`":`)
	if !found {
		return object
	}
	_, rest, _ := strings.Cut(after, "],")
	return before + rest
}

// An object of another group does not exist, and users who are bound to none write
// the objects for all groups.
func TestDefinitionsOfAlertingHaveGroups(t *testing.T) {
	for kind, body := range definitions() {
		t.Run(kind, func(t *testing.T) {
			e := newEdge(t)
			e.people()
			root, ids := "/api/v1/"+kind, map[string]string{}
			for _, group := range []string{"mine", "shown", "theirs", ""} {
				of := body.with(fields{"name": "of " + group})
				if group != "" {
					of["group"] = group
				}
				ids[group] = e.call("POST", root, encode(t, of)).want(201).id()
			}
			as := as(boundToken)
			listed := e.call("GET", root, "", as...).ids()
			require.Subset(t, listed, []string{ids["mine"], ids["shown"], ids[""]})
			require.NotContains(t, listed, ids["theirs"])
			for group, want := range map[string][3]int{
				"mine": {200, 200, 204}, "shown": {200, 403, 403}, "theirs": {404, 404, 404}, "": {200, 403, 403},
			} {
				path := root + "/" + ids[group]
				e.call("GET", path, "", as...).want(want[0])
				e.call("PUT", path, encode(t, body.with(fields{"version": 1})), as...).want(want[1])
				e.call("DELETE", path, "", as...).want(want[2])
			}
			for _, group := range []any{"shown", "theirs", "new", nil} {
				e.call("POST", root, encode(t, body.with(fields{"name": "x", "group": group})), as...).
					wantCode(403, "forbidden")
			}
			e.call("POST", root, encode(t, body.with(fields{"name": "x", "group": "mine"})), as...).want(201)
			e.call("POST", root, encode(t, body), "Authorization", "Bearer "+viewerToken).wantCode(403, "forbidden")
			e.call("GET", root, "", "Authorization", "Bearer "+viewerToken).want(200)
		})
	}
}

// A definition names what its group may use.
func TestDefinitionsNameWhatTheirGroupMayUse(t *testing.T) {
	e := newEdge(t)
	e.people()
	rule := definitions()["alert-rules"]
	for channel, want := range map[string]int{"c-all": 201, "c-mine": 201, "c-theirs": 422, "none": 422} {
		a := e.call("POST", "/api/v1/alert-rules", encode(t, rule.with(fields{
			"name": channel, "group": "mine", "channelIds": []string{channel},
		})), as(boundToken)...).want(want)
		if want == 422 {
			a.wantField(422, "channelIds[0]", "unknown_channel")
		}
	}
	e.call("POST", "/api/v1/alert-rules", encode(t, rule.with(fields{"scope": fields{"jobIds": []string{"none"}}}))).
		wantField(422, "scope.jobIds[0]", "unknown_job")
	job := e.create(encode(t, minimal().with(fields{"group": "theirs"})))["id"].(string)
	e.call("POST", "/api/v1/alert-rules", encode(t, rule.with(fields{
		"group": "mine", "scope": fields{"jobIds": []string{job}},
	})), as(boundToken)...).wantField(422, "scope.jobIds[0]", "unknown_job")
	scoped := e.call("POST", "/api/v1/alert-rules",
		encode(t, rule.with(fields{"scope": fields{"jobIds": []string{job}}}))).
		want(201)
	e.call("DELETE", "/api/v1/jobs/"+job, "").want(204)
	e.call("PUT", "/api/v1/alert-rules/"+scoped.id(), scoped.body).want(200)

	e.call("POST", "/api/v1/on-call", encode(t, definitions()["on-call"])).want(201)
	used := e.call("DELETE", "/api/v1/teams/team", "")
	used.wantCode(409, "in_use")
	require.Contains(t, used.body, `the on-call plan \"w\"`)
}

// The rules of the first start may be edited and switched off; deleted, they would come back.
func TestDefaultRulesStay(t *testing.T) {
	e := newEdge(t)
	s, err := alert.SettingOf[alert.Rule](alert.KindRule, &alert.Rule{
		Head: alert.Head{
			ID: "default-failed", Name: "default: failed", Enabled: true, Version: 1, CreateTime: now,
			UpdateTime: now,
		}, Type: alert.JobFailed, Level: alert.Warning, Notify: alert.NotifyFirst, Default: "failed",
	})
	require.NoError(t, err)
	require.NoError(t, e.Store.AddMissingAlertSettings(t.Context(), []alert.Setting{s}))
	path := "/api/v1/alert-rules/default-failed"
	e.call("DELETE", path, "").wantCode(409, "default_rule")
	e.call("PUT", path, `{"name":"f","type":"TIMEOUT","level":"INFO","version":1}`).wantField(422, "type", "unchangeable")
	got := e.call("PUT", path, `{"name":"f","type":"JOB_FAILED","level":"INFO","enabled":false,"version":1}`).want(200)
	require.Equal(t, []any{"failed", false}, []any{got.json()["default"], got.json()["enabled"]})
	e.call("DELETE", path, "").wantCode(409, "default_rule")
}

// An action has the rights of who saved the rule.
func TestActionsNeedTheRightsOfWhoSavesTheRule(t *testing.T) {
	e := newEdge(t)
	mine := e.create(encode(t, minimal().with(fields{"group": "mine"})))["id"].(string)
	theirs := e.create(encode(t, minimal().with(fields{"group": "theirs"})))["id"].(string)
	rule := func(group string, action fields) string {
		return encode(t, fields{
			"name": "acts", "group": group, "type": "JOB_FAILED", "level": "INFO",
			"actions": []fields{action},
		})
	}
	as := as(boundToken)
	e.call("POST", "/api/v1/alert-rules", rule("mine", fields{"kind": "RUN_JOB", "jobId": theirs}), as...).
		wantField(422, "actions[0]", "unknown_job")
	e.call("POST", "/api/v1/alert-rules", rule("mine", fields{"kind": "RUN_JOB", "jobId": "none"}), as...).
		wantField(422, "actions[0]", "unknown_job")
	made := e.call("POST", "/api/v1/alert-rules", rule("mine", fields{
		"kind": "RUN_JOB", "jobId": mine, "params": fields{"mode": "repair"},
	}), as...).want(201)
	require.Equal(t, "id-of-bound", made.json()["editorId"])
	require.Contains(t, made.body, `"params":{"mode":"repair"}`)
	// The editor is who saves it, whatever the body says.
	edited := e.call("PUT", "/api/v1/alert-rules/"+made.id(), made.body).want(200)
	require.Equal(t, "id-of-admin", edited.json()["editorId"])

	drain := encode(t, fields{
		"name": "drains", "type": "NODE_SUSPECT", "level": "INFO", "actions": []fields{{"kind": "DRAIN_NODE"}},
	})
	e.call("POST", "/api/v1/alert-rules", drain, "Authorization", "Bearer "+operatorToken).want(201)
	token := e.call("POST", "/api/v1/tokens", `{"name":"x","scopes":["alert:write"],"expiresAt":"2026-12-01T00:00:00Z"}`).
		want(201).json()["token"].(string)
	e.call("POST", "/api/v1/alert-rules", strings.Replace(drain, "drains", "other", 1), "Authorization", "Bearer "+token).
		wantCode(403, "action_forbidden")
}

// A contact's addresses are for those who may edit it, and for the user.
func TestAddressesOfPeopleAreHidden(t *testing.T) {
	e := newEdge(t)
	named := e.call("POST", "/api/v1/contacts", `{"name":"by name","userId":"ann","email":"ann@example.com"}`).want(201)
	require.Equal(t, "id-of-ann", named.json()["userId"], "a name stands for its id")
	e.call("POST", "/api/v1/teams", `{"name":"t","members":["ann"]}`).want(201)
	id := e.call("POST", "/api/v1/contacts", `{"name":"a","userId":"id-of-ann","email":"ann@example.com"}`).want(201).id()
	for token, shown := range map[string]bool{
		adminToken: true, operatorToken: true, viewerToken: false, boundToken: false, e.signIn("ann"): true,
	} {
		for _, path := range []string{"/api/v1/contacts/" + id, "/api/v1/contacts"} {
			body := e.call("GET", path, "", "Authorization", "Bearer "+token).want(200).body
			require.Equal(t, shown, strings.Contains(body, "ann@example.com"), "%s %s", token, body)
		}
	}
	e.call("PUT", "/api/v1/contacts/"+id, `{"name":"a","userId":"id-of-ann","email":"***","version":1}`).
		wantField(422, "email", "hidden_value")
}

func TestRulesAreCheckedAndRunDry(t *testing.T) {
	e := newEdge(t)
	rule := definitions()["alert-rules"]
	require.JSONEq(t, `{"valid":true}`, e.call("POST", "/api/v1/alert-rules/validate", encode(t, rule)).want(200).body)
	require.Empty(t, e.call("GET", "/api/v1/alert-rules", "").ids(), "it keeps nothing")
	e.call("POST", "/api/v1/alert-rules/validate", encode(t, fields{
		"name": "x", "type": "EXPRESSION", "level": "INFO", "expression": "status ==",
	})).wantField(422, "expression", "invalid")
	refused := e.call("POST", "/api/v1/alert-rules/validate", encode(t, rule), as(boundToken)...)
	refused.wantCode(403, "forbidden")
	require.Equal(t, "this is for all groups, and you are bound to some: name one of your groups",
		refused.json()["detail"])
	// They read alone: alert:read in the group of the rule is enough.
	viewer := as(viewerToken)
	for _, group := range []string{"mine", "shown"} {
		inGroup := encode(t, rule.with(fields{"group": group}))
		e.call("POST", "/api/v1/alert-rules/validate", inGroup, as(boundToken)...).want(200)
		e.call("POST", "/api/v1/alert-rules/validate", inGroup, viewer...).want(200)
	}
	e.call("POST", "/api/v1/alert-rules/validate", encode(t, rule.with(fields{"group": "theirs"})), as(boundToken)...).
		wantCode(403, "forbidden")
	e.call("POST", "/api/v1/alert-rules/validate", encode(t, rule), viewer...).want(200)
	e.call("POST", "/api/v1/alert-rules/validate", encode(t, rule.with(fields{
		"actions": []fields{{"kind": "DRAIN_NODE"}}, "type": "NODE_DOWN", "threshold": nil, "windowSec": nil,
	})), viewer...).wantCode(403, "action_forbidden")

	job := e.deadRuns(identity.ExecutionID(now, "j", "", 0), identity.ExecutionID(now, "j", "", 1))
	e.Clock.Advance(time.Minute)
	dry := func(from string, change fields) string {
		return encode(t, fields{
			"rule": fields{"name": "d", "type": "DEAD_LETTER", "level": "INFO"}.with(change), "from": from,
			"to": "2026-11-20T13:00:00Z",
		})
	}
	got := e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", nil)).want(200).json()
	require.Equal(t, 1.0, got["total"], got)
	require.Equal(t, job, got["alerts"].([]any)[0].(map[string]any)["jobId"])
	require.Empty(t, e.call("GET", "/api/v1/alerts", "").ids(), "nothing is raised")
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", fields{"group": "mine"}),
		as(boundToken)...).want(200)
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", nil), as(boundToken)...).
		wantCode(403, "forbidden")
	shown := dry("2026-11-20T11:00:00Z", fields{"group": "shown"})
	found := e.call("POST", "/api/v1/alert-rules/dry-run", shown, as(boundToken)...).want(200).json()
	require.Equal(t, 0.0, found["total"], "the job is of another group")
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", fields{"group": "theirs"}),
		as(boundToken)...).wantCode(403, "forbidden")
	require.Equal(t, 1.0, e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", nil), viewer...).
		want(200).json()["total"])
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T11:00:00Z", fields{"threshold": 3})).
		wantField(422, "rule.threshold", "conflict")
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-11-20T14:00:00Z", fields{"level": "x"})).
		wantField(422, "rule.level", "unknown_value")
	e.call("POST", "/api/v1/alert-rules/dry-run", dry("2026-09-20T14:00:00Z", nil)).wantField(422, "from", "out_of_range")
}
