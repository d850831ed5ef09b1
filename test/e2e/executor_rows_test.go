//go:build linux

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// definitionRows are job data that no server takes, by the numbers of the
// catalogue of bad input. field is what the answer must name below jobData.
func definitionRows(own string) []definitionRow {
	rows := []definitionRow{
		{"92 own address", "HTTP", one("url", own+"/api/v1/jobs"), "url"},
		{"104 body of 1 MiB and more", "HTTP", with("body", strings.Repeat("x", 1<<20+1)), "413"},
		{"105 interpreter", "COMMAND", map[string]any{"script": "x", "interpreter": "perl"}, "interpreter"},
		{"105 relative program", "COMMAND", map[string]any{"command": []string{"./evil"}}, "command[0]"},
		{"105 both", "COMMAND", map[string]any{"command": []string{"true"}, "script": "x", "interpreter": "sh"}, "script"},
		{"106 one text", "COMMAND", one("command", "rm -rf / && $(id)"), "command"},
		{"106 NUL", "COMMAND", one("command", []string{"echo", "a\x00b"}), "command"},
		{"107 PATH", "COMMAND", env("PATH", ".:/bin"), "env.PATH"},
		{"107 bad name", "COMMAND", env("A=B", "x"), "env"},
		{"108 root", "COMMAND", map[string]any{"command": []string{"true"}, "workingDir": "/"}, "workingDir"},
		{"108 parent", "COMMAND", map[string]any{"command": []string{"true"}, "workingDir": "/srv/../etc"}, "workingDir"},
		{"108 relative", "COMMAND", map[string]any{"command": []string{"true"}, "workingDir": "srv"}, "workingDir"},
		{"109 limit", "COMMAND", map[string]any{"command": []string{"true"}, "memoryMb": 1}, "memoryMb"},
		{"113 placeholder", "COMMAND", one("command", []string{"echo", "${HOME}"}), "command[1]"},
	}
	for number, urls := range map[string][]string{
		"85": {"http://127.0.0.1:3306", "http://127.0.0.1:8080"},
		"86": {"http://localhost", "http://LOCALHOST.", "http://a.localhost"},
		"87": {"http://[::1]", "http://[::]"}, "88": {"http://0", "http://0.0.0.0"},
		"89": {"http://0x7f000001", "http://2130706433", "http://0177.0.0.1", "http://127.1"},
		"90": {"http://[::ffff:169.254.169.254]", "http://[::ffff:127.0.0.1]"},
		"91": {"http://169.254.169.254/latest/meta-data", "http://100.100.100.200/", "http://[fd00:ec2::254]/"},
		"93": {"http://redis.example:6379", "http://db.example:3306", "http://10.1.2.3:9092"},
		"94": {"file:///etc/passwd", "gopher://h", "ftp://h", "unix:/run/docker.sock", "javascript:alert(1)"},
		"95": {"http://user:pass@host.example"}, "96": {"http://good.com@evil", "http://evil#good.com"},
		"100": {"http://h.example:0", "http://h.example:65536", "http://h.example:22", "http://h.example:25"},
		"101": {"http://h%00.example", "http://h\t.example", "http://h.example/\t"},
	} {
		for _, url := range urls {
			rows = append(rows, definitionRow{number + " " + url, "HTTP", one("url", url), "url"})
		}
	}
	for name, header := range map[string]string{
		"X-A": "1\r\nX-B: 2", "Host": "evil", "Transfer-Encoding": "chunked",
		"Content-Length": "5", "X-Scheduler-Attempt": "9",
	} {
		rows = append(rows, definitionRow{
			"102 " + name, "HTTP", with("headers", map[string]string{name: header}),
			"headers." + name,
		})
	}
	many := map[string]string{}
	for i := range 1000 {
		many[fmt.Sprintf("X-%d", i)] = "v"
	}
	rows = append(rows, definitionRow{"102 1,000 headers", "HTTP", with("headers", many), "headers"},
		definitionRow{"102 name", "HTTP", with("headers", map[string]string{"X-A: 1\r\nX-B": "2"}), "headers"})
	for _, method := range []string{"CONNECT", "TRACE", "get", "GE T"} {
		rows = append(rows, definitionRow{"103 " + method, "HTTP", with("method", method), "method"})
	}
	for _, name := range []string{"LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "IFS", "SCHEDULER_JOB_ID"} {
		rows = append(rows, definitionRow{"107 " + name, "COMMAND", env(name, "/tmp/evil.so"), "env." + name})
	}
	return rows
}

type definitionRow struct {
	row, jobType string
	data         map[string]any
	field        string
}

func one(name string, value any) map[string]any { return map[string]any{name: value} }

func with(name string, value any) map[string]any {
	return map[string]any{"url": "https://h.example/", name: value}
}

func env(name, value string) map[string]any {
	return map[string]any{"command": []string{"true"}, "env": map[string]string{name: value}}
}

func TestNoServerTakesThatToRun(t *testing.T) {
	b := startBinaryWith(t, "PS_EXECUTOR_HTTP_ALLOWPRIVATE=false")
	for _, r := range definitionRows(b.url) {
		t.Run(r.row, func(t *testing.T) {
			status, answer := b.call(http.MethodPost, "/api/v1/jobs", map[string]any{
				"name": "bad", "jobType": r.jobType,
				"jobData": r.data,
			})
			if r.field == "413" {
				require.Equal(t, 413, status, "%s", answer)
				return
			}
			require.Equal(t, 422, status, "%s", answer)
			var problem struct {
				Errors []struct{ Field, Message string }
			}
			require.NoError(t, json.Unmarshal(answer, &problem))
			require.NotEmpty(t, problem.Errors)
			require.Equal(t, "jobData."+r.field, problem.Errors[0].Field, "%s", answer)
			require.NotEmpty(t, problem.Errors[0].Message)
		})
	}
	var page struct{ Items []any }
	b.must(200, http.MethodGet, "/api/v1/jobs", nil, &page)
	require.Empty(t, page.Items, "nothing is half done")
	for _, url := range []string{
		"http://bücher.example/ü", "http://xn--bcher-kva.example/",
		"http://h.example./%2e%2e/%00",
	} {
		b.must(201, http.MethodPost, "/api/v1/jobs",
			map[string]any{"name": url, "jobType": "HTTP", "jobData": one("url", url)}, nil)
	}
}

// Rows 104, 109 and 110 as a command can bring them about: the run ends
// clearly, the server lives, and nothing is left.
func TestACommandThatMisbehavesHarmsNobodyElse(t *testing.T) {
	b := startBinary(t)
	rows := map[string]struct {
		data map[string]any
		more map[string]any
		want ending
	}{
		"109 10 GB": {
			one("command", []string{"sh", "-c", "head -c 10737418240 /dev/zero"}),
			map[string]any{"timeoutSec": 60},
			ending{Status: "SUCCESS"},
		},
		"109 endless": {
			one("command", []string{"yes"}),
			map[string]any{"timeoutSec": 1},
			ending{Status: "TIMEOUT", Reason: "TIMEOUT"},
		},
		"109 binary": {one("command", []string{"head", "-c", "300000", "/dev/urandom"}), nil, ending{Status: "SUCCESS"}},
		"109 escape": {one("command", []string{"printf", `\033]0;owned\007\r\0`}), nil, ending{Status: "SUCCESS"}},
		"110 fork bomb": {
			map[string]any{"command": []string{"sh", "-c", "f() { f & f & wait; }; f 2>/dev/null; sleep 9"}, "processes": 200},
			map[string]any{"timeoutSec": 2},
			ending{},
		},
		"110 memory": {
			map[string]any{"command": []string{"sh", "-c", "x=x; while :; do x=$x$x; done"}, "memoryMb": 64},
			map[string]any{"timeoutSec": 20},
			ending{Status: "FAILED"},
		},
		"110 CPU": {
			map[string]any{"command": []string{"sh", "-c", "while :; do :; done"}, "cpuSec": 1},
			map[string]any{"timeoutSec": 20},
			ending{Status: "FAILED", Reason: "ERROR"},
		},
		"110 large file": {
			map[string]any{"command": []string{"sh", "-c", "head -c 10000000 /dev/zero >f"}, "fileMb": 1},
			nil,
			ending{Status: "FAILED"},
		},
		"110 many files": {
			map[string]any{"command": []string{
				"sh", "-c",
				"ulimit -n; exec 8<&0; i=10; while eval \"exec $i<&0\"; do i=$((i+1)); done",
			}, "openFiles": 16},
			nil,
			ending{Status: "FAILED"},
		},
		"no interpreter": {one("command", []string{"no-such-program"}), nil, ending{Status: "FAILED", Reason: "INVALID"}},
		"no longer there": {
			map[string]any{"command": []string{"true"}, "workingDir": "/no/such/folder"},
			nil,
			ending{Status: "FAILED", Reason: "INVALID"},
		},
	}
	ids := map[string]string{}
	for name, r := range rows {
		job := map[string]any{"jobType": "COMMAND", "jobData": r.data}
		for k, v := range r.more {
			job[k] = v
		}
		ids[name] = b.trigger(job, "")
	}
	// While they misbehave, others run.
	began := time.Now()
	require.Equal(t, "SUCCESS",
		b.ends(b.trigger(map[string]any{"jobType": "CUSTOM", "jobClass": "noop", "jobData": map[string]any{}}, "")).Status)
	require.Less(t, time.Since(began), 15*time.Second)
	for name, id := range ids {
		t.Run(name, func(t *testing.T) {
			var end ending
			require.Eventually(t, func() bool {
				b.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &end)
				return end.Status != "WAITING" && end.Status != "RUNNING"
			}, 90*time.Second, 20*time.Millisecond)
			want := rows[name].want
			if want.Status != "" {
				require.Equal(t, want.Status, end.Status, end.ErrorMessage)
			}
			if want.Reason != "" {
				require.Equal(t, want.Reason, end.Reason, end.ErrorMessage)
			}
			if end.Status == "FAILED" {
				require.NotEmpty(t, end.ErrorMessage)
			}
			status, logs := b.call(http.MethodGet, "/api/v1/executions/"+id+"/logs?limit=200", nil)
			require.Equal(t, 200, status)
			require.True(t, json.Valid(logs))
			require.NotContains(t, string(logs), `\u001b`)
			require.NotContains(t, string(logs), `\u0000`)
		})
	}
	require.Equal(t, "SUCCESS", b.ends(b.command("echo well", nil)).Status)
}
