package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// document is a body of POST /import as YAML.
func document(jobs string) string { return "version: 1\njobs:\n" + jobs }

const noop = "- {name: a, jobType: CUSTOM, jobClass: noop}\n"

func (e *edge) send(query, yaml string, headers ...string) answer {
	e.t.Helper()
	return e.call("POST", "/api/v1/import"+query, yaml, append([]string{"Content-Type", "application/yaml"},
		headers...)...)
}

func TestBadDocumentsAreRefusedWhole(t *testing.T) {
	e := newEdge(t)
	for _, c := range []struct {
		name, body, field, code string
	}{
		{"no version", "jobs: []", "version", "required"},
		{"another version", "version: 2\njobs: []", "version", "unsupported"},
		{"a version that is a text", "version: '1'", "version", "wrong_type"},
		{"an unknown field", "version: 1\njob: []", "job", "unknown_field"},
		{"jobs that are no list", "version: 1\njobs: {}", "jobs", "wrong_type"},
		{"a job that is no object", document("- 1\n"), "jobs[0]", "wrong_type"},
		{
			"an unknown field of a job", document(noop + "- {name: b, jobType: CUSTOM, jobClass: noop, prioritty: 1}\n"),
			"jobs[1].prioritty", "unknown_field",
		},
		{
			"a wrong type deep inside", document("- {name: b, jobType: CUSTOM, jobClass: noop, schedule: {intervalMs: x}}\n"),
			"jobs[0].schedule.intervalMs", "wrong_type",
		},
		{"a wrong expression", document(noop + noop + noop + "- {name: b, jobType: CUSTOM, jobClass: noop, schedule: " +
			"{cronExpression: x}}\n"), "jobs[3].schedule.cronExpression", ""},
		{"no name", document("- {jobType: CUSTOM, jobClass: noop}\n"), "jobs[0].name", "required"},
		{
			"enabled that is a text", document("- {name: b, jobType: CUSTOM, jobClass: noop, enabled: yes}\n"),
			"jobs[0].enabled", "wrong_type",
		},
		{"a job twice", document(noop + noop), "jobs[1].name", "duplicate"},
		{
			"a job twice, one with the default group",
			document(noop + "- {name: a, group: default, jobType: CUSTOM, jobClass: noop}\n"), "jobs[1].name", "duplicate",
		},
		{"a group twice", "version: 1\ngroups: [{name: g}, {name: g}]", "groups[1].name", "duplicate"},
		{"a group without a name", "version: 1\ngroups: [{maxConcurrency: 1}]", "groups[0].name", "required"},
		{
			"a bound below zero", "version: 1\ngroups: [{name: g, maxConcurrency: -1}]", "groups[0].maxConcurrency",
			"out_of_range",
		},
		{"an unknown field of a group", "version: 1\ngroups: [{name: g, paused: true}]", "groups[0].paused", "unknown_field"},
		{
			"a time that has passed",
			document("- {name: b, jobType: CUSTOM, jobClass: noop, schedule: {kind: ONCE, at: 2020-01-01T00:00:00Z}}\n"),
			"jobs[0].schedule.at", "in_the_past",
		},
	} {
		t.Run(c.name, func(t *testing.T) { e.on(t).send("", c.body).wantField(422, c.field, c.code) })
	}
	_, fields := e.send("", "jobs:\n- {name: 1}\n- {name: b, jobType: X, priority: 11}\n").want(422).problem()
	for _, field := range []string{"version", "jobs[0].name", "jobs[0].jobType", "jobs[1].jobType", "jobs[1].priority"} {
		require.Contains(t, fields, field, "all faults at once")
	}
	_, fields = e.send("", document(strings.Repeat("- {x: 1}\n", 1000))).want(422).problem()
	require.Len(t, fields, 100, "an answer is bounded")
	require.Empty(t, e.all(), "nothing was changed")
}

func TestTextsThatAreNoDocument(t *testing.T) {
	e := newEdge(t)
	for name, c := range map[string]struct {
		body, kind string
		status     int
		code       string
	}{
		"a field twice":    {"version: 1\nversion: 1", "application/yaml", 400, "invalid_yaml"},
		"a bomb":           {"a: &a [x]\nb: &b [*a,*a]\n", "text/yaml", 400, "invalid_yaml"},
		"a tag":            {"version: !!int 1", "application/x-yaml", 400, "invalid_yaml"},
		"a number as name": {"1: 1", "application/yaml", 400, "invalid_yaml"},
		"two documents":    {"version: 1\n---\nversion: 1", "application/yaml", 400, "invalid_yaml"},
		"a list":           {"- 1", "application/yaml", 400, "not_an_object"},
		"nothing":          {"", "application/yaml", 400, "invalid_yaml"},
		"no YAML":          {"a: [", "application/yaml", 400, "invalid_yaml"},
		"too deep": {
			"a: " + strings.Repeat("[", 70) + strings.Repeat("]", 70), "application/yaml", 400,
			"invalid_yaml",
		},
		"JSON, a name twice": {`{"version":1,"version":1}`, "application/json", 400, "duplicate_field"},
		"YAML as JSON":       {"version: 1", "application/json", 400, "invalid_json"},
		"another type":       {"version: 1", "text/plain", 415, "unsupported_media_type"},
		"another charset":    {"version: 1", "application/yaml; charset=utf-16", 415, "unsupported_charset"},
		"too many values": {
			"version: 1\njobs: [" + strings.Repeat("1,", 1_000_001) + "]", "application/yaml", 413,
			"document_too_large",
		},
		"over 16 MiB": {"# " + strings.Repeat("x", 16<<20), "application/yaml", 413, "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) { e.on(t).send("", c.body, "Content-Type", c.kind).wantCode(c.status, c.code) })
	}
	e.send("?dryrun=true", document(noop)).wantField(422, "dryrun", "unknown_parameter")
	e.send("?dryRun=1", document(noop)).wantField(422, "dryRun", "unknown_value")
	require.Empty(t, e.all())
}

func TestOnlyDocumentsMayBeLong(t *testing.T) {
	e := newEdge(t)
	long := "# " + strings.Repeat("x", 2<<20) + "\n"
	require.Equal(t, 1.0, e.send("?dryRun=true", long+document(noop)).want(200).json()["created"])
	require.Contains(t, e.call("POST", "/api/v1/jobs", long).want(413).body, "1 MiB")
	e.call("POST", "/api/v1/nothing", long).wantCode(413, "body_too_large")
}

func TestADocumentIsApplied(t *testing.T) {
	e := newEdge(t)
	body := "version: 1\ngroups:\n- {name: pay, maxConcurrency: 3}\njobs:\n" + noop +
		"- {name: b, group: pay, jobType: CUSTOM, jobClass: noop, labels: {team: x}, enabled: false}\n"
	dry := e.send("?dryRun=true", body).want(200).json()
	require.Equal(t, []any{true, 2.0, 0.0}, []any{dry["dryRun"], dry["created"], dry["failed"]})
	require.Empty(t, e.all(), "a dry run changes nothing")

	m := e.send("", body).want(200).json()
	items := m["items"].([]any)
	require.Len(t, items, 2)
	b := items[1].(map[string]any)
	require.Equal(t, []any{"pay", "b", "CREATE", nil}, []any{b["group"], b["name"], b["action"], b["error"]})
	require.Equal(t, entity.JobCreated, e.Node.Job(t, b["id"].(string)).Status)
	require.EqualValues(t, 3, e.call("GET", "/api/v1/groups/pay", "").want(200).json()["maxConcurrency"])
	audit := e.last()
	require.Equal(t, "2 definitions", audit.Object)
	require.Contains(t, audit.Changes, "CREATE pay b")

	m = e.send("", body).want(200).json()
	require.Equal(t, []any{2.0, 0.0}, []any{m["unchanged"], m["updated"]}, "what is there is left alone")
	m = e.send("?dryRun=true", strings.Replace(strings.Replace(body, "team: x", "team: y", 1), ", enabled: false",
		", enabled: true, schedule: {kind: FIXED_RATE, intervalMs: 5000}", 1)).want(200).json()
	changed := m["items"].([]any)[1].(map[string]any)
	require.Equal(t, "UPDATE", changed["action"])
	require.Equal(t, map[string]any{
		"labels": []any{map[string]any{"team": "x"}, map[string]any{"team": "y"}}, "enabled": []any{false, true},
		"schedule.kind": []any{"NONE", "FIXED_RATE"}, "schedule.intervalMs": []any{0.0, 5000.0},
	}, changed["changes"])
	m = e.send("?prune=true", document(noop)+"groups: [{name: pay, maxConcurrency: 4}]\n").want(200).json()
	require.Equal(t, []any{1.0, 1.0}, []any{m["unchanged"], m["deleted"]})
	require.Equal(t, map[string]any{"maxConcurrency": []any{3.0, 4.0}}, m["groups"].([]any)[0].(map[string]any)["changes"])
	require.Len(t, e.all(), 1)

	jobs := failing{JobService: e.Jobs, err: errors.New("canary")}
	e.rebuild(func(d *api.Deps) {
		d.Definitions = definition.NewDefinitionService(e.Store.Jobs, failingEditor{e.Jobs, &jobs}, e.Groups, e.Secrets,
			e.Alerting)
	})
	a := e.send("", document("- {name: new, jobType: CUSTOM, jobClass: noop}\n")).want(200)
	require.Equal(t, "internal", a.json()["items"].([]any)[0].(map[string]any)["error"].(map[string]any)["code"])
	require.EqualValues(t, 1, a.json()["failed"])
	require.NotContains(t, a.body, "canary")
}

func TestAnExportIsADocument(t *testing.T) {
	e := newEdge(t)
	e.create(fullJob)
	z := e.create(encode(t, minimal().with(fields{"name": "z"})))["id"].(string)
	e.create(encode(t, minimal().with(fields{"name": "a ${secret.pw}"})))
	e.call("POST", "/api/v1/jobs/"+z+"/pause", "").want(200)
	e.smallPages(1)
	a := e.call("GET", "/api/v1/export", "").want(200)
	require.Equal(t, "application/yaml", a.header.Get("Content-Type"))
	require.Contains(t, a.body,
		"version: 1\ngroups:\n- name: default\n  maxConcurrency: 0\n- name: pay\n  maxConcurrency: 0\njobs:\n- name: \"a "+
			"${secret.pw}\"\n")
	require.NotContains(t, a.body, "nextFireTime")
	require.Equal(t, 1, strings.Count(a.body, "enabled: false"))
	j := e.call("GET", "/api/v1/export?format=json", "").want(200)
	require.Equal(t, "application/json", j.header.Get("Content-Type"))
	var names []any
	for _, job := range j.json()["jobs"].([]any) {
		names = append(names, job.(map[string]any)["name"])
	}
	require.Equal(t, []any{"a ${secret.pw}", "z", "settle orders"}, names, "by group and name")
	for kind, text := range map[string]string{"application/yaml": a.body, "application/json": j.body} {
		m := e.send("?prune=true", text, "Content-Type", kind).want(200).json()
		require.Equal(t, []any{3.0, 0.0, 0.0}, []any{m["unchanged"], m["updated"], m["deleted"]}, "%v", m["items"])
	}
	e.call("GET", "/api/v1/export?group=none", "").wantCode(404, "not_found")
	e.call("GET", "/api/v1/export?format=xml", "").wantField(422, "format", "unknown_value")
	require.NotContains(t, e.call("GET", "/api/v1/export?group=pay", "").want(200).body, "default")
}

func TestAnExportThatBreaksOffIsNotTakenForTheWhole(t *testing.T) {
	e := newEdge(t)
	for i := range 3 {
		e.create(encode(t, minimal().with(fields{"name": fmt.Sprint("job ", i)})))
	}
	pages := e.smallPages(1)
	pages.err = errors.New("the store is away")
	e.rebuild(func(d *api.Deps) { d.Clock = clocktest.NewManual(now.AddDate(50, 0, 0)) }) // writes are in time
	server := httptest.NewServer(e.router)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/export", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := server.Client().Do(req)
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		_, err = io.ReadAll(res.Body)
	}
	require.Error(t, err, "the connection breaks")
	require.Contains(t, e.log.String(), `"level":"ERROR","msg":"request"`)

	pages.err = nil
	res, err = server.Client().Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "job 2")
}

// smallPages reads jobs by name in small pages; err comes after the first one.
type smallPages struct {
	repository.Definitions
	size int
	err  error
}

func (p *smallPages) JobsByName(ctx context.Context, group string,
	page repository.Page,
) ([]*entity.Job, string, error) {
	if page.Cursor != "" && p.err != nil {
		return nil, "", p.err
	}
	page.Limit = p.size
	return p.Definitions.JobsByName(ctx, group, page)
}

// smallPages makes exports read jobs in pages of that size.
func (e *edge) smallPages(size int) *smallPages {
	e.t.Helper()
	p := &smallPages{Definitions: e.Store.Jobs, size: size}
	e.rebuild(func(d *api.Deps) {
		d.Definitions = definition.NewDefinitionService(p, e.Jobs, e.Groups, e.Secrets, e.Alerting)
	})
	return p
}

// failingEditor creates no job, with an error that the real service is built not to give.
type failingEditor struct {
	*job.JobService
	create *failing
}

func (f failingEditor) Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	return f.create.Create(ctx, job, enabled)
}

// bindOperator makes the operator one of these groups alone, in a new session.
func (e *edge) bindOperator(groups map[string]entity.Role) (headers []string) {
	e.t.Helper()
	require.NoError(e.t, e.Store.SetRole(e.t.Context(), "id-of-operator", entity.RoleOperator,
		entity.Rights{Groups: groups}, now))
	return as(e.signIn("operator"))
}

func TestWhoIsBoundToNoGroupSeesNothing(t *testing.T) {
	e := newEdge(t)
	e.create(encode(t, minimal()))
	bound := e.bindOperator(map[string]entity.Role{})
	require.NotContains(t, e.call("GET", "/api/v1/export", "", bound...).want(200).body, "settle orders")
	require.Empty(t, e.call("GET", "/api/v1/jobs", "", bound...).want(200).json()["items"], "no group is not every group")
}

func TestADocumentKeepsToTheGroupsOfItsSender(t *testing.T) {
	e := newEdge(t)
	for _, group := range []string{"mine", "seen", "hidden"} {
		e.create(encode(t, minimal().with(fields{"group": group})))
	}
	bound := e.bindOperator(map[string]entity.Role{"mine": entity.RoleOperator, "seen": entity.RoleViewer})
	a := e.call("GET", "/api/v1/export", "", bound...).want(200)
	require.Contains(t, a.body, "group: mine")
	require.Contains(t, a.body, "group: seen")
	require.NotContains(t, a.body, "hidden")
	require.Contains(t, e.call("GET", "/api/v1/export?group=seen", "", bound...).want(200).body, "group: seen")
	e.call("GET", "/api/v1/export?group=hidden", "", bound...).wantCode(404, "not_found")

	ok := "- {name: x, group: mine, jobType: CUSTOM, jobClass: noop}\n"
	for name, c := range map[string]struct{ body, code string }{
		"a group that is only seen": {
			document(ok + "- {name: x, group: seen, jobType: CUSTOM, jobClass: noop}\n"),
			"forbidden",
		},
		"a group that is not seen": {
			document(ok + "- {name: x, group: hidden, jobType: CUSTOM, jobClass: noop}\n"),
			"forbidden",
		},
		"settings of another group": {document(ok) + "groups: [{name: seen}]\n", "forbidden"},
		"a command": {
			document(ok + "- {name: y, group: mine, jobType: CRON, jobData: {command: [ls]}}\n"),
			"commands_forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, query := range []string{"", "?dryRun=true", "?prune=true"} {
				e.on(t).send(query, c.body, bound...).wantCode(403, c.code)
			}
		})
	}
	require.Len(t, e.all(), 3, "nothing was done")
	m := e.send("?prune=true", document(ok), bound...).want(200).json()
	require.Equal(t, []any{1.0, 1.0}, []any{m["created"], m["deleted"]})
	require.Len(t, e.all(), 3)
}
