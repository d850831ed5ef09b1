//go:build unix

package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

// The bodies under test: shape fills so many bytes with one JSON value.
type shape struct {
	name string
	fill func(n int) string
}

// repeat fills n bytes: head, then as many items as there is room for, then tail.
func repeat(n int, head, item, tail string) string {
	count := max((n-len(head)-len(tail))/(len(item)+1), 1)
	return head + strings.TrimSuffix(strings.Repeat(item+",", count), ",") + tail
}

// numbered is repeat with a number in each item, which has 8 digits.
func numbered(n int, head, format, tail string) string {
	size := len(fmt.Sprintf(format, 10_000_000)) + 1
	var b strings.Builder
	b.WriteString(head)
	for i := range max((n-len(head)-len(tail))/size, 1) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, 10_000_000+i)
	}
	return b.String() + tail
}

func shapes() []shape {
	return []shape{
		{"a long name over many values", func(n int) string {
			return repeat(n, `{"`+strings.Repeat("x", n/2)+`":[`, "0", "]}")
		}},
		{"names at the bound over many values", func(n int) string {
			name := strings.Repeat("x", min(255, n/140))
			return repeat(n, strings.Repeat(`{"`+name+`":`, 50)+"[", "0", "]"+strings.Repeat("}", 50))
		}},
		{"deep", func(n int) string {
			return repeat(n, `{"a":[`, strings.Repeat("[", 55)+strings.Repeat("]", 55), "]}")
		}},
		{"deep to the end", func(n int) string {
			return strings.Repeat(`{"a":`, (n-1)/6) + "0" + strings.Repeat("}", (n-1)/6)
		}},
		{"wide", func(n int) string { return numbered(n, "{", `"k%d":0`, "}") }},
		{"escapes", func(n int) string { return `{"a":"` + strings.Repeat(`\u0041\\`, (n-10)/8) + `"}` }},
		{"numbers", func(n int) string { return repeat(n, `{"a":[`, "1234567890.12345e10", "]}") }},
		{"one number", func(n int) string { return `{"a":` + strings.Repeat("7", n-6) + "}" }},
		{"duplicates", func(n int) string { return numbered(n, "{", `"k%d":0`, `,"k10000000":0}`) }},
		{"many errors", func(n int) string { return numbered(n, `{"headers":{`, `"k%d":{}`, "}}") }},
		{"a huge text", func(n int) string { return `{"a":"` + strings.Repeat("x", n-9) + `"}` }},
		{"unicode", func(n int) string { return `{"é":"` + strings.Repeat("日本🚀", (n-12)/10) + `"}` }},
		{"arrays of objects", func(n int) string { return repeat(n, `{"a":[`, `{"b":{},"c":[]}`, "]}") }},
		{"names of secrets", func(n int) string { return numbered(n, `{"headers":{`, `"token%d":"x"`, "}}") }},
		{"placeholders", func(n int) string { return `{"url":"http://h/` + strings.Repeat("${attempt}", (n-20)/10) + `"}` }},
	}
}

// inner is the field of each body that takes any value, so that the shape is
// not only read but looked at.
func inner(path string) (head, tail string) {
	switch {
	case strings.HasSuffix(path, "/jobs"), strings.HasSuffix(path, "/jobs/:id"):
		return `{"name":"n","jobType":"HTTP","version":1,"jobData":`, "}"
	case strings.HasSuffix(path, "/trigger") && !strings.Contains(path, "bulk"):
		return `{"params":`, "}"
	case strings.HasSuffix(path, "/import"):
		return `{"version":1,"jobs":[{"name":"n","jobType":"HTTP","jobData":`, "}]}"
	case strings.HasSuffix(path, "/preview"):
		return `{"schedule":`, "}"
	case strings.Contains(path, "/users"):
		return `{"username":"n","password":"correct horse","role":"viewer","groups":`, "}"
	}
	return "", ""
}

// cpu is what the process has used, in user and system mode.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costOf is the CPU of one call, its collection of garbage included.
func costOf(t *testing.T, call func()) time.Duration {
	t.Helper()
	runtime.GC()
	before := cpu(t)
	call()
	runtime.GC()
	return cpu(t) - before
}

// perByte is what one byte more may cost.
const perByte = time.Microsecond

// call is one call under test, with a body of each size.
type call struct {
	name string
	make func(t *testing.T, n int)
}

// hold fails for each call whose bytes above 1 KiB cost more than perByte each.
// Collections of garbage cost more than the calls, so that some calls are measured
// together first: what holds the bound of one together, holds it alone.
func hold(t *testing.T, bound int, calls []call) {
	t.Helper()
	for len(calls) > 0 {
		measured := 0
		runtime.GC()
		before := cpu(t)
		for measured < len(calls) && cpu(t)-before < allowed(bound)/2 {
			calls[measured].make(t, bound)
			measured++
		}
		runtime.GC()
		if cpu(t)-before > allowed(bound) {
			for _, c := range calls[:measured] {
				t.Run(c.name, func(t *testing.T) { holdsTheBound(t, bound, c) })
			}
		}
		calls = calls[measured:]
	}
}

// The race detector makes all of it dearer, so that shorter bodies must do.
func allowed(bound int) time.Duration { return time.Duration(bound-1024) * perByte * raceFactor }

// Other work of the machine can only make a try look dearer: the best counts.
func holdsTheBound(t *testing.T, bound int, c call) {
	t.Helper()
	var least time.Duration
	for try := range 4 {
		small := costOf(t, func() { c.make(t, 1024) })
		took := costOf(t, func() { c.make(t, bound) }) - small
		if try == 0 || took < least {
			least = took
		}
		if least <= allowed(bound) {
			return
		}
	}
	t.Errorf("%d bytes cost %s of CPU more than 1 KiB, and may cost %s", bound, least, allowed(bound))
}

// sized is what text makes for 1 KiB and for the bound, made before it is measured.
func sized(t *testing.T, bound int, text func(n int) string) map[int]string {
	t.Helper()
	texts := map[int]string{}
	for _, n := range []int{1024, bound} {
		texts[n] = text(n)
		require.LessOrEqual(t, len(texts[n]), n)
	}
	return texts
}

// costlyEdge is the edge over a store that takes no definition.
func costlyEdge(t *testing.T) *edge {
	t.Helper()
	e := reporting(t)
	e.Faults.Away(true)
	return e
}

// spend calls without the checks of call, which would be measured too. It
// returns how much of the body was read.
func (e *edge) spend(method, path, body string, headers ...string) (read int) {
	e.t.Helper()
	text := strings.NewReader(body)
	req := httptest.NewRequestWithContext(e.t.Context(), method, path, text)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	e.router.ServeHTTP(rec, req)
	require.NotEqual(e.t, http.StatusInternalServerError, rec.Code, rec.Body.String())
	require.Less(e.t, rec.Body.Len(), 64<<10)
	return len(body) - text.Len()
}

// bodyBound is the bound of a route on its body.
func bodyBound(r api.Route) int {
	switch {
	case strings.HasPrefix(r.Path, "/api/v1/auth/"):
		return 4 << 10
	case strings.HasSuffix(r.Path, "/import"):
		return documentBound
	}
	return (1 << 20) / raceShare
}

const documentBound = (16 << 20) / documentShare

func takesBody(r api.Route) bool { return r.Method == http.MethodPost || r.Method == http.MethodPut }

// The cost of a body grows with its length alone, whatever it holds: nobody,
// signed in or not, buys much of the server's time with few bytes.
func TestABodyCostsItsLengthAlone(t *testing.T) {
	e := costlyEdge(t)
	for _, r := range e.router.Routes() {
		if !takesBody(r) {
			continue
		}
		path := strings.Replace(address(r), "/executions/some-id/report", "/executions/run-1/report", 1)
		head, tail := inner(r.Path)
		var calls []call
		for _, s := range shapes() {
			bodies := sized(t, bodyBound(r), func(n int) string { return head + s.fill(n-len(head)-len(tail)) + tail })
			calls = append(calls, call{s.name, func(t *testing.T, n int) {
				e.on(t).spend(r.Method, path, bodies[n], "Authorization", "Bearer "+adminToken, "X-Scheduler-Run-Token", runToken)
			}})
		}
		t.Run(r.Method+" "+r.Path, func(t *testing.T) { hold(t, bodyBound(r), calls) })
	}
}

// Before somebody is signed in, no body is read at all, but by the sign-in.
func TestNoBodyIsReadOfStrangers(t *testing.T) {
	e := costlyEdge(t)
	body := shapes()[0].fill(1 << 20)
	for _, r := range e.router.Routes() {
		if !takesBody(r) {
			continue
		}
		if r.Path == "/api/v1/auth/login" {
			continue
		}
		require.Zero(t, e.spend(r.Method, address(r), body), r.Path)
	}
	require.Zero(t, e.spend("POST", "/nowhere", body))
}

// A document in YAML costs as little, at the server and where the command line
// reads it.
func TestADocumentInYAMLCostsItsLengthAlone(t *testing.T) {
	e := costlyEdge(t)
	head, tail := inner("/api/v1/import")
	for name, read := range map[string]func(t *testing.T, text string){
		"server": func(t *testing.T, text string) {
			e.on(t).spend("POST", "/api/v1/import", text, "Content-Type", "application/yaml", "Authorization",
				"Bearer "+adminToken)
		},
		"command line": func(_ *testing.T, text string) { _, _ = yamljson.AllFromYAML([]byte(text)) },
	} {
		bound := documentBound
		if name == "command line" {
			bound /= 4 // it has none: it reads its user's own files
		}
		var calls []call
		for _, s := range append(shapes(), yamlShapes()...) {
			texts := sized(t, bound, func(n int) string {
				if strings.HasPrefix(s.name, "yaml") {
					return s.fill(n)
				}
				return head + s.fill(n-len(head)-len(tail)) + tail
			})
			calls = append(calls, call{s.name, func(t *testing.T, n int) { read(t, texts[n]) }})
		}
		t.Run(name, func(t *testing.T) { hold(t, bound, calls) })
	}
}

// yamlShapes are texts that JSON does not know.
func yamlShapes() []shape {
	return []shape{
		{"yaml: lines", func(n int) string { return strings.Repeat("- a\n", n/4) }},
		{"yaml: names", func(n int) string { return strings.Repeat("abcdefgh: a\n", n/12) }},
		{"yaml: indented", func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n-i-4; i++ {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}},
		{"yaml: comments", func(n int) string { return strings.Repeat("# a\n", n/4) }},
		{"yaml: documents", func(n int) string { return strings.Repeat("---\na\n", n/6) }},
		{"yaml: a block", func(n int) string { return "a: |\n" + strings.Repeat("  a\n", (n-5)/4) }},
		{"yaml: spaces", func(n int) string { return "a:" + strings.Repeat(" ", n-4) + "b\n" }},
		{"yaml: dashes", func(n int) string { return strings.Repeat("- ", n/2) }},
		{"yaml: keys", func(n int) string { return strings.Repeat("? ", n/2) }},
		{"yaml: flow", func(n int) string { return "a: [" + strings.Repeat("a,", (n-5)/2) + "]" }},
		{"yaml: flow keys", func(n int) string { return "a: {" + strings.Repeat("a: b,", (n-5)/5) + "}" }},
		{"yaml: open", func(n int) string { return strings.Repeat("[", n) }},
		{"yaml: quoted", func(n int) string { return `a: "` + strings.Repeat(`\n`, (n-5)/2) + `"` }},
		{"yaml: folded", func(n int) string { return `a: "` + strings.Repeat("\n", n-6) + `"` }},
	}
}
