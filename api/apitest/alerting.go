package apitest

import (
	"fmt"
	"net/http"
	"strings"
)

// The addresses of alerting.
const (
	alerts   = "/api/v1/alerts"
	rules    = "/api/v1/alert-rules"
	silences = "/api/v1/alert-silences"
	routes   = "/api/v1/alert-routes"
	teams    = "/api/v1/teams"
	contacts = "/api/v1/contacts"
	onCall   = "/api/v1/on-call"
)

// rule is a body with one part as literal JSON, which may repeat no field.
func rule(kind, literal string) string {
	return fmt.Sprintf(`{"name":"n","level":"INFO","type":%q,%s}`, kind, literal)
}

// alerting is what people define for alerting, and what they ask of alerts.
func alerting() []Case {
	out := append(wrongRules(), wrongSilences()...)
	out = append(out, wrongPeople()...)
	out = append(out, wrongChannels()...)
	out = append(out, wrongTemplates()...)
	for _, c := range [][2]string{
		{`{"name":""}`, "required"},
		{`{"name":"  "}`, "required"},
		{`{"name":"a\nX-Injected: 1"}`, "invalid"},
		{`{"name":"a\u0000b"}`, "invalid"},
		{`{"name":"\u001b]0;owned\u0007"}`, "invalid"},
		{`{"name":"a\u202eb"}`, "invalid"},
		{`{"name":7}`, "wrong_type"},
		{`{"name":"` + strings.Repeat("x", 101) + `"}`, "too_long|invalid"},
	} {
		for _, path := range []string{rules, routes, teams, contacts, onCall, channels, templates} {
			code := c[1]
			if strings.Contains(code, "|") {
				code = ""
			}
			out = append(out, wrong("51 name", path, c[0], "name", code))
		}
	}
	for _, path := range []string{rules, silences, routes, teams, contacts, onCall, channels, templates} {
		out = append(out,
			wrong("78 Name", path, `{"Name":"a"}`, "Name", "unknown_field"),
			wrong("47 enabled", path, `{"enabled":"yes"}`, "enabled", "wrong_type"),
			wrong("47 group", path, `{"group":["a"]}`, "group", "wrong_type"),
			wrong("51 group", path, `{"group":"a\r\nb"}`, "group", "invalid"),
			wrong("50 group", path, `{"group":"`+strings.Repeat("x", 101)+`"}`, "group", "invalid"),
			wrong("39 version", path, `{"version":1.5}`, "version", "not_an_integer"),
			unfit("45", path+"?limit=0", "limit", "out_of_range"),
			unfit("78", path+"?Limit=1", "Limit", "unknown_parameter"),
			Case{Row: "82", Method: http.MethodPost, Path: path, Body: `{"name":`, Status: 400, Code: "invalid_json"},
			Case{Row: "74", Method: http.MethodPost, Path: path, Body: `[]`, Status: 400, Code: "not_an_object"},
			Case{Row: "69 nobody", Method: http.MethodGet, Path: path + "/" + nobody, Status: 404, Code: "not_found"},
			Case{
				Row: "69 nobody", Method: http.MethodPut, Path: path + "/" + nobody, Body: `{"version":1}`, Status: 404,
				Code: "not_found",
			},
			Case{Row: "69 nobody", Method: http.MethodDelete, Path: path + "/" + nobody, Status: 404, Code: "not_found"},
			Case{
				Row: "122", Method: http.MethodPut, Path: path + "/" + nobody, Body: `{}`, Headers: []string{"If-Match", "x"},
				Status: 412, Code: "version_mismatch",
			})
	}
	for _, c := range [][3]string{
		{"status=LOST", "status", "unknown_value"},
		{"status=FIRING,", "status", "unknown_value"},
		{"level=HIGH", "level", "unknown_value"},
		{"type=JOB_LOST", "type", "unknown_value"},
		{"labels=team", "labels", "invalid"},
		{"labels=%3Dx", "labels", "invalid"},
		{"labels=a%3D1,a%3D2", "labels", "invalid"},
		{"labels=a%3D1,", "labels", "invalid"},
		{"labels=a%3D1%5C", "labels", "invalid"},
		{"labels=a%3D%5Cn", "labels", "invalid"},
		{"labels=a%3D1&labels=b%3D2", "labels", "repeated"},
		{"labels=a%3D1,b%3D2,c%3D3,d%3D4,e%3D5,f%3D6,g%3D7,h%3D8,i%3D9,j%3D10,k%3D11", "labels", "too_many"},
		{"labels=a%3D%00", "labels", "invalid_text"},
		{"jobId=a%0d%0ab", "jobId", "invalid_text"},
		{"from=yesterday", "from", "invalid_time"},
		{"from=2027-01-02T00:00:00Z&to=2027-01-02T00:00:00Z", "to", "out_of_order"},
		{"limit=201", "limit", "out_of_range"},
		{"cursor=w6k", "cursor", "invalid_cursor"},
		{"state=FIRING", "state", "unknown_parameter"},
	} {
		out = append(out, unfit("113", alerts+"?"+c[0], c[1], c[2]))
	}
	for _, verb := range []string{"ack", "resolve"} {
		path := alerts + "/" + nobody + "/" + verb
		out = append(out,
			wrong("47", path, `{"comment":1}`, "comment", "wrong_type"),
			wrong("77", path, `{"by":"me"}`, "by", "unknown_field"),
			Case{Row: "69 nobody", Method: http.MethodPost, Path: path, Status: 404, Code: "not_found"})
	}
	return append(out, Case{Row: "69 nobody", Method: http.MethodGet, Path: alerts + "/" + nobody, Status: 404})
}

func wrongRules() []Case {
	many := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	out := []Case{
		wrong("113", rules, `{"name":"n"}`, "type", "unknown_value"),
		wrong("113", rules, `{"name":"n","type":"JOB_FAILED","level":"HIGH"}`, "level", "unknown_value"),
		wrong("113", rules, rule("JOB_LOST", `"labels":{}`), "type", "unknown_value"),
		wrong("113", rules, rule("JOB_FAILED", `"notify":"ALWAYS"`), "notify", "unknown_value"),
		wrong("77", rules, rule("JOB_FAILED", `"chanelIds":[]`), "chanelIds", "unknown_field"),
		wrong("77", rules, rule("JOB_FAILED", `"scope":{"jobs":[]}`), "scope.jobs", "unknown_field"),
		wrong("47", rules, rule("JOB_FAILED", `"scope":[]`), "scope", "wrong_type"),
		wrong("47", rules, rule("JOB_FAILED", `"channelIds":"c"`), "channelIds", "wrong_type"),
		wrong("47", rules, rule("JOB_FAILED", `"channelIds":[1]`), "channelIds[0]", "wrong_type"),
		wrong("47", rules, rule("JOB_FAILED", `"labels":{"a":1}`), "labels.a", "wrong_type"),
		wrong("47", rules, rule("JOB_FAILED", `"actions":{}`), "actions", "wrong_type"),
		wrong("47", rules, rule("JOB_FAILED", `"actions":["PAUSE_JOB"]`), "actions[0]", "wrong_type"),
		wrong("40", rules, rule("FAILURE_RATE", `"windowSec":600,"threshold":1.5`), "threshold", "out_of_range"),
		wrong("40", rules, rule("FAILURE_RATE", `"windowSec":600,"threshold":1e999`), "threshold", "out_of_range"),
		wrong("40", rules, rule("FAILURE_RATE", `"windowSec":1,"threshold":0.5`), "windowSec", "out_of_range"),
		wrong("40", rules, rule("CONSECUTIVE_FAILURES", `"threshold":-1`), "threshold", "out_of_range"),
		wrong("40", rules, rule("LATENESS", `"threshold":60,"forSec":-1`), "forSec", "out_of_range"),
		wrong("40", rules, rule("LATENESS", `"threshold":60,"keepSec":99999999`), "keepSec", "out_of_range"),
		wrong("113", rules, rule("JOB_FAILED", `"forSec":5`), "forSec", "conflict"),
		wrong("113", rules, rule("NODE_DOWN", `"scope":{"groups":["a"]}`), "scope", "conflict"),
		wrong("113", rules, rule("EXPRESSION", `"labels":{}`), "expression", "required"),
		wrong("113", rules, rule("EXPRESSION", `"expression":"status =="`), "expression", "invalid"),
		wrong("113", rules, rule("EXPRESSION", `"expression":"\u0000"`), "expression", "invalid"),
		wrong("50", rules, rule("EXPRESSION", `"expression":"`+strings.Repeat("x", 4097)+`"`), "expression", "too_long"),
		wrong("113", rules, rule("JOB_FAILED", `"channelIds":["`+nobody+`"]`), "channelIds[0]", "unknown_channel"),
		wrong("113", rules, rule("JOB_FAILED", `"channelIds":["c\r\nX: 1"]`), "channelIds[0]", "invalid"),
		wrong("71", rules, rule("JOB_FAILED", `"channelIds":`+many(101, `"c"`)), "channelIds", "too_many"),
		wrong("71", rules, rule("JOB_FAILED", `"scope":{"jobIds":`+many(501, `"j"`)+`}`), "scope.jobIds", "too_many"),
		wrong("113", rules, rule("JOB_FAILED", `"scope":{"jobIds":["`+nobody+`"]}`), "scope.jobIds[0]", "unknown_job"),
		wrong("51", rules, rule("JOB_FAILED", `"labels":{"a":"b\nc"}`), "labels.a", "invalid"),
		wrong("51", rules, rule("JOB_FAILED", `"labels":{" ":"b"}`), "labels", "invalid"),
		wrong("71", rules, rule("JOB_FAILED", `"labels":`+labels(65)), "labels", "too_many"),
		wrong("71", rules, rule("JOB_FAILED", `"actions":`+many(6, `{"kind":"PAUSE_JOB"}`)), "actions", "too_many"),
		wrong("113", rules, rule("JOB_FAILED", `"actions":[{"kind":"REBOOT"}]`), "actions[0].kind", "unknown_value"),
		wrong("77", rules, rule("JOB_FAILED", `"actions":[{"kind":"PAUSE_JOB","url":"x"}]`), "actions[0].url",
			"unknown_field"),
		wrong("113", rules, rule("JOB_FAILED", `"actions":[{"kind":"RUN_JOB"}]`), "actions[0].jobId", "required"),
		wrong("113", rules, rule("JOB_FAILED", `"actions":[{"kind":"DRAIN_NODE"}]`), "actions[0].kind", "conflict"),
		wrong("47", rules, rule("JOB_FAILED", `"actions":[{"kind":"RUN_JOB","jobId":"j","params":"x"}]`),
			"actions[0].params", "wrong_type"),
	}
	dry := func(literal string) string { return `{"rule":` + rule("JOB_FAILED", `"labels":{}`) + literal + `}` }
	const run = rules + "/dry-run"
	out = append(out,
		wrong("113", rules+"/validate", rule("JOB_FAILED", `"forSec":5`), "forSec", "conflict"),
		wrong("72", run, dry(``), "from", "required"),
		wrong("34", run, dry(`,"from":"yesterday","to":"2026-11-20T00:00:00Z"`), "from", "invalid_time"),
		wrong("31", run, dry(`,"from":"2026-11-20T00:00:00Z","to":"2026-11-20T00:00:00Z"`), "to", "out_of_order"),
		wrong("31", run, dry(`,"from":"2026-01-20T00:00:00Z","to":"2026-11-20T00:00:00Z"`), "from", "out_of_range"),
		wrong("31", run, dry(`,"from":"2199-01-20T00:00:00Z","to":"2199-11-20T00:00:00Z"`), "from", "out_of_range"),
		wrong("113", run, `{"rule":`+rule("JOB_FAILED", `"threshold":1`)+
			`,"from":"2026-11-19T00:00:00Z","to":"2026-11-20T00:00:00Z"}`, "rule.threshold", "conflict"))
	return out
}

// labels are so many labels.
func labels(n int) string {
	all := fields{}
	for i := range n {
		all[fmt.Sprint("l", i)] = "v"
	}
	return all.String()
}

func wrongSilences() []Case {
	silence := func(literal string) string { return `{"match":{"job":"x"},` + literal + `}` }
	const far = `"to":"2199-01-01T00:00:00Z"`
	return []Case{
		wrong("72", silences, `{`+far+`}`, "match", "required"),
		wrong("72", silences, `{"match":{},`+far+`}`, "match", "required"),
		wrong("47", silences, `{"match":"job=x",`+far+`}`, "match", "wrong_type"),
		wrong("51", silences, `{"match":{"job":"a\u0007"},`+far+`}`, "match.job", "invalid"),
		wrong("71", silences, `{"match":`+labels(65)+`,`+far+`}`, "match", "too_many"),
		wrong("72", silences, silence(`"comment":""`), "to", "required"),
		wrong("34", silences, silence(`"to":"tomorrow"`), "to", "invalid_time"),
		wrong("33", silences, silence(`"from":"2020-01-01T00:00:00Z","to":"2020-01-02T00:00:00Z"`), "to", "out_of_range"),
		wrong("31", silences, silence(`"from":"2199-01-01T00:00:00Z",`+far), "to", "out_of_order"),
		wrong("33", silences, silence(far), "to", "out_of_range"),
		wrong("33", silences, silence(`"from":"2198-12-31T00:00:00Z",`+far), "to", "out_of_range"),
		wrong("50", silences, silence(far+`,"comment":"`+strings.Repeat("x", 1001)+`"`), "comment", "too_long"),
		wrong("51", silences, silence(far+`,"comment":"\u001b[2J"`), "comment", "invalid"),
		wrong("51", silences, silence(far+`,"name":"a\nb"`), "name", "invalid"),
	}
}

func wrongPeople() []Case {
	route := func(literal string) string { return `{"name":"n",` + literal + `}` }
	plan := func(shift string) string { return `{"name":"n","timeZone":"UTC","shifts":[` + shift + `]}` }
	contact := func(literal string) string { return `{"name":"n","userId":"` + nobody + `",` + literal + `}` }
	return []Case{
		wrong("72", routes, route(`"match":{}`), "channelIds", "required"),
		wrong("113", routes, route(`"channelIds":["`+nobody+`"]`), "channelIds[0]", "unknown_channel"),
		wrong("113", routes, route(`"onCallId":"`+nobody+`"`), "onCallId", "unknown_on_call"),
		wrong("113", routes, route(`"templateId":"`+nobody+`"`), "templateId", "unknown_template"),
		wrong("113", routes, route(`"escalateAfterSec":60`), "escalateTo", "required"),
		wrong("113", routes, route(`"escalateTo":["x"]`), "escalateAfterSec", "required"),
		wrong("113", routes, route(`"escalateAfterSec":60,"escalateTo":["x"]`), "escalateTo[0]", "unknown_channel"),
		wrong("40", routes, route(`"position":-1`), "position", "out_of_range"),
		wrong("40", routes, route(`"repeatSec":1`), "repeatSec", "out_of_range"),
		wrong("40", routes, route(`"groupWaitSec":2592001`), "groupWaitSec", "out_of_range"),
		wrong("39", routes, route(`"groupIntervalSec":1.5`), "groupIntervalSec", "not_an_integer"),
		wrong("72", routes, route(`"groupBy":[""]`), "groupBy[0]", "required"),
		wrong("51", routes, route(`"groupBy":["a\nb"]`), "groupBy[0]", "invalid"),
		wrong("51", routes, route(`"match":{"a":"b\u0000"}`), "match.a", "invalid"),
		wrong("47", routes, route(`"continue":1`), "continue", "wrong_type"),

		wrong("72", teams, route(`"members":[]`), "members", "required"),
		wrong("113", teams, route(`"members":["`+nobody+`"]`), "members[0]", "unknown_user"),
		wrong("76", teams, route(`"members":["a","a"]`), "members[1]", "conflict"),
		wrong("71", teams, route(`"members":[`+strings.Repeat(`"a",`, 200)+`"a"]`), "members", "too_many"),
		wrong("113", teams, route(`"channelIds":["`+nobody+`"]`), "channelIds[0]", "unknown_channel"),

		wrong("113", contacts, contact(`"email":"a@example.com"`), "userId", "unknown_user"),
		wrong("72", contacts, contact(`"phone":""`), "email", "required"),
		wrong("51", contacts, contact(`"email":"a@example.com\r\nBcc: b@example.com"`), "email", "invalid"),
		wrong("113", contacts, contact(`"email":"Ann <a@example.com>"`), "email", "invalid"),
		wrong("113", contacts, contact(`"phone":"call me"`), "phone", "invalid"),
		wrong("51", contacts, contact(`"chatId":"a\u0000"`), "chatId", "invalid"),
		wrong("113", contacts, contact(`"email":"***"`), "email", "hidden_value"),

		wrong("72", onCall, `{"name":"n","timeZone":"UTC"}`, "shifts", "required"),
		wrong("72", onCall, `{"name":"n","timeZone":"UTC","shifts":[]}`, "shifts", "required"),
		wrong("30", onCall, `{"name":"n","timeZone":"Mars/Base","shifts":[]}`, "timeZone", "unknown_time_zone"),
		wrong("30", onCall, `{"name":"n","timeZone":"../../etc/passwd","shifts":[]}`, "timeZone", "unknown_time_zone"),
		wrong("113", onCall, plan(`{"teamId":"`+nobody+`","from":"09:00","to":"18:00"}`), "shifts[0].teamId", "unknown_team"),
		wrong("72", onCall, plan(`{"from":"09:00","to":"18:00"}`), "shifts[0].teamId", "required"),
		wrong("34", onCall, plan(`{"teamId":"t","from":"9","to":"18:00"}`), "shifts[0].from", "invalid_time"),
		wrong("34", onCall, plan(`{"teamId":"t","from":"09:00","to":"24:01"}`), "shifts[0].to", "invalid_time"),
		wrong("34", onCall, plan(`{"teamId":"t","from":"24:00","to":"09:00"}`), "shifts[0].from", "out_of_range"),
		wrong("113", onCall, plan(`{"teamId":"t","from":"09:00","to":"18:00","days":["MONDAY"]}`), "shifts[0].days",
			"unknown_value"),
		wrong("76", onCall, plan(`{"teamId":"t","from":"09:00","to":"18:00","days":["MON","MON"]}`), "shifts[0].days",
			"conflict"),
		wrong("77", onCall, plan(`{"team":"t","from":"09:00","to":"18:00"}`), "shifts[0].team", "unknown_field"),
		wrong("113", onCall, plan(`{"teamId":"t","from":"09:00","to":"18:00","rotateDays":7}`), "shifts[0].rotateFrom",
			"invalid"),
		wrong("40", onCall, plan(`{"teamId":"t","from":"09:00","to":"18:00","rotateDays":367,"rotateFrom":"2026-01-05"}`),
			"shifts[0].rotateDays", "out_of_range"),
		wrong("71", onCall, plan(strings.TrimSuffix(strings.Repeat(`{"teamId":"t","from":"09:00","to":"18:00"},`, 101), ",")),
			"shifts", "too_many"),
		wrong("47", onCall, plan(`"nights"`), "shifts[0]", "wrong_type"),
	}
}
