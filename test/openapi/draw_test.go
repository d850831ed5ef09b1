package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
)

// call is one request. good says that the document allows all of it.
type call struct {
	method, path, query string
	header              http.Header
	body                []byte
	good                bool
	// objects are the ids that the path or a bulk body names.
	objects []string
}

// drawer draws calls from the document.
type drawer struct {
	*rand.Rand
	w *world
}

func pick[T any](d *drawer, items ...T) T { return items[d.IntN(len(items))] }

func (d *drawer) one(in int) bool { return d.IntN(in) == 0 }

// nasty are values that are wrong nearly everywhere.
func (d *drawer) nasty() any {
	return pick[any](d, nil, true, -1, 0, 1<<53, -1<<63, json.Number("1e400"), 0.5, "", " ", "\x00", "\u202e", "日本語🙂",
		"'; DROP TABLE scheduler_job; --", "${secret.db}",
		"../../etc/passwd", strings.Repeat("x", 5000), strings.Repeat("é", 300), []any{}, []any{nil}, map[string]any{},
		map[string]any{"": map[string]any{}}, "2026-13-01T00:00:00Z")
}

// settings are the kinds of what people define for alerting, as their addresses name them.
func settings() []string {
	return []string{
		"alert-channels", "alert-rules", "alert-routes", "alert-silences", "alert-templates", "teams", "contacts", "on-call",
	}
}

// kindOf says what the identifier in a path names.
func kindOf(path string) string {
	for _, kind := range append(settings(), "alerts") {
		if strings.Contains(path, "/"+kind+"/") {
			return kind
		}
	}
	for _, k := range []struct{ part, kind string }{
		{"/jobs/", "job"},
		{"/executions/", "run"},
		{"/dead-letters/", "run"},
		{"/groups/", "group"},
		{"/users/", "user"},
		{"/tokens/", "token"},
		{"/nodes/", "node"},
		{"/secrets/", "secret"},
	} {
		if strings.Contains(path, k.part) {
			return k.kind
		}
	}
	return ""
}

func (d *drawer) id(kind string) string {
	if known := d.w.objects[kind]; len(known) > 0 && !d.one(6) {
		return pick(d, known...)
	}
	return pick(d, "01990000-0000-7000-8000-000000000001", "x", "0", "a.b-c_d", ".hidden", "%2e%2e", "a%20b", "%00",
		strings.Repeat("y", 65), "%E6%97%A5")
}

func (d *drawer) call(op openapitest.Operation) call {
	c := call{method: op.Method, path: op.Path, header: http.Header{}, good: true}
	query := url.Values{}
	for _, ref := range op.Parameters {
		p := ref.Value
		switch p.In {
		case "path":
			value := d.id(kindOf(op.Path))
			if p.Name == "version" {
				value = pick(d, "1", "2", "0", "-1", "x", "99999999999999999999")
			} else {
				c.objects = []string{value}
			}
			c.path = strings.Replace(c.path, "{"+p.Name+"}", value, 1)
		case "query":
			d.query(p, query, &c)
		case "header":
			d.headers(p, &c)
		}
	}
	if d.one(40) {
		query.Set(pick(d, "x", "Limit", "cursor[]"), "1")
		c.good = false
	}
	c.query = query.Encode()
	if op.RequestBody != nil && (op.RequestBody.Value.Required || !d.one(4)) {
		d.body(op, &c)
	}
	return c
}

func (d *drawer) query(p *openapi3.Parameter, query url.Values, c *call) {
	switch {
	case !d.one(3):
	case d.one(4):
		query.Set(p.Name, fmt.Sprint(d.nasty()))
		c.good = false
	default:
		query.Set(p.Name, fmt.Sprint(d.named(p.Name, p.Schema.Value, c.path)))
		if p.Name == "cursor" || p.Name == "from" || p.Name == "to" { // not each is one of ours, or in order
			c.good = false
		}
	}
}

func (d *drawer) headers(p *openapi3.Parameter, c *call) {
	switch {
	case p.Name == "Idempotency-Key" && d.one(3):
		c.header.Set(p.Name, fmt.Sprint("key-", d.Uint64()))
	case p.Name == "Idempotency-Key" && d.one(10):
		c.header.Set(p.Name, pick(d, "a b", strings.Repeat("k", 256)))
		c.good = false
	case p.Name == "If-Match" && d.one(2):
		version := fmt.Sprintf(`"%d"`, d.version(c))
		c.header.Set(p.Name, pick(d, version, version, version, `W/"2"`, "*", "x", `"-1"`, `"99999999999999999999"`))
	case p.Name == "Last-Event-ID" && d.one(3):
		c.header.Set(p.Name, pick(d, "0", "5", "-1", "x"))
	case p.Required:
		c.header.Set(p.Name, "made up")
	}
}

// body draws a body from its example or its schema, then perhaps spoils it.
func (d *drawer) body(op openapitest.Operation, c *call) {
	content := op.RequestBody.Value.Content[openapitest.JSON]
	c.header.Set("Content-Type", openapitest.JSON)
	body := map[string]any{}
	if example, ok := content.Example.(map[string]any); ok && !d.one(4) {
		maps.Copy(body, example)
		d.w.fresh(op.Path, body)
	}
	sparse := d.one(2) // the more fields, the less is accepted
	schema := openapitest.Variant(content.Schema.Value, body)
	if len(schema.OneOf) > 0 {
		schema = pick(d, schema.OneOf...).Value
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		required := slices.Contains(schema.Required, name)
		if _, given := body[name]; required && !given || !sparse && d.one(6) || given && name == "name" {
			body[name] = d.named(name, schema.Properties[name].Value, c.path)
		}
		if name == "version" && d.one(2) {
			body[name] = d.version(c)
		}
	}
	if d.one(3) {
		d.spoil(body)
		c.good = false
	}
	if ids, ok := body["ids"].([]any); ok {
		for _, id := range ids {
			c.objects = append(c.objects, fmt.Sprint(id))
		}
	}
	raw, err := json.Marshal(body)
	if err != nil { // a number that only the spoiling made
		raw = []byte(`{"n":1e400}`)
	}
	c.body = raw
	if d.one(12) {
		c.body, c.good = d.garble(raw, c.header), false
	}
}

// version is that of the object which the path names, 1 where there is none.
func (d *drawer) version(c *call) int {
	parts := strings.Split(c.path, "/") // "", api, v1, jobs, ID
	if len(c.objects) == 0 || len(parts) < 5 {
		return 1
	}
	now, _ := d.w.field("/"+parts[3]+"/"+parts[4], "version")
	n, err := strconv.Atoi(now)
	if err != nil {
		return 1
	}
	return n
}

// spoil makes one thing wrong, here or further inside.
func (d *drawer) spoil(body map[string]any) {
	names := slices.Sorted(maps.Keys(body))
	if len(names) == 0 || d.one(5) {
		body[pick(d, "unknown", "NAME", "", "__proto__")] = d.nasty()
		return
	}
	name := pick(d, names...)
	if inner, ok := body[name].(map[string]any); ok && d.one(2) {
		inner = maps.Clone(inner)
		d.spoil(inner)
		body[name] = inner
		return
	}
	if d.one(4) {
		delete(body, name)
		return
	}
	body[name] = d.nasty()
}

// garble breaks the bytes or what the headers say of them.
func (d *drawer) garble(raw []byte, h http.Header) []byte {
	switch d.IntN(8) {
	case 0:
		return raw[:len(raw)/2]
	case 1:
		return []byte("[" + string(raw) + "]")
	case 2:
		return append(raw, raw...)
	case 3:
		return []byte("{\"a\":\"\xff\"}")
	case 4:
		return []byte(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100))
	case 5:
		return append(raw, make([]byte, 1<<20)...)
	case 6:
		h.Set("Content-Type", pick(d, "text/plain", "application/json; charset=latin1", ""))
	default:
		h.Set("Content-Encoding", "gzip")
	}
	return raw
}

// named draws a value for a field or parameter that the schema allows, of the
// kind that its name asks for.
func (d *drawer) named(name string, s *openapi3.Schema, path string) any {
	if s.Nullable && d.one(8) && !strings.Contains(path, "{") {
		return nil
	}
	switch name {
	case "ids":
		kind := "run"
		if strings.Contains(path, "/bulk/jobs") {
			kind = "job"
		}
		return []any{d.id(kind), d.id(kind)}
	case "jobId":
		return pick(d, d.w.objects["job"]...)
	case "channelIds":
		return []any{d.id("alert-channels")}
	case "members":
		return []any{d.id("user")}
	case "teamId", "onCallId", "templateId", "ruleId":
		return d.id(map[string]string{
			"teamId": "teams", "onCallId": "on-call", "templateId": "alert-templates", "ruleId": "alert-rules",
		}[name])
	case "nodeId", "userId":
		return pick(d, d.w.objects[strings.TrimSuffix(name, "Id")]...)
	case "group":
		return pick(d, "alpha", "beta", "default", "gamma")
	case "groups": // of a user
		if s.Type.Is("array") {
			break
		}
		return map[string]any{"alpha": pick[any](d, "viewer", "operator")}
	case "name", "username":
		return pick(d, "settle", "報告 ünï", fmt.Sprint("n", d.Uint32()))
	case "jobClass":
		return pick(d, "noop", "echo", "nothing.like.it")
	case "intervalMs", "jitterMs":
		return pick(d, 0, 1000, 60_000, 86_400_000)
	case "shardCount":
		return pick(d, 1, 2, 1024)
	case "cronExpression":
		return pick(d, "0 0/5 * * * ?", "* * * * * ?", "0 0 0 L * ?", "every day")
	case "timeZone":
		return pick(d, "UTC", "Asia/Shanghai", "America/New_York", "Mars/Olympus")
	case "cursor":
		return pick(d, "1", "0", "-1", "eyJhIjoxfQ", "99999999999999999999")
	}
	return d.value(s, path)
}

// value draws from a schema alone; bounds are drawn often.
func (d *drawer) value(s *openapi3.Schema, path string) any {
	switch {
	case len(s.AllOf) > 0:
		return d.value(s.AllOf[0].Value, path)
	case len(s.OneOf) > 0:
		return d.value(pick(d, s.OneOf...).Value, path)
	case len(s.Enum) > 0:
		return pick(d, s.Enum...)
	case s.Type.Is("boolean"):
		return d.one(2)
	case s.Type.Is("integer"), s.Type.Is("number"):
		low, high := 0.0, 1e6
		if s.Min != nil {
			low = *s.Min
		}
		if s.Max != nil {
			high = *s.Max
		}
		return pick(d, int64(low), int64(high), int64(low+(high-low)/2))
	case s.Type.Is("array"):
		return []any{d.value(s.Items.Value, path)}
	case s.Type.Is("object"):
		o := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || d.one(3) {
				o[name] = d.named(name, s.Properties[name].Value, path)
			}
		}
		return o
	case s.Format == "date-time":
		return pick(d, "2026-11-20T21:33:00.000Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
			"2030-02-28T23:59:59+08:00")
	}
	text := pick(d, "a", "some text", "日本語", "p\u00e4ss\tword", strings.Repeat("z", 100))
	for uint64(len([]rune(text))) < s.MinLength {
		text += "…"
	}
	if s.MaxLength != nil && uint64(len([]rune(text))) > *s.MaxLength {
		text = text[:1]
	}
	return text
}
