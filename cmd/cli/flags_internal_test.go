package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// anything is one answer that every command can read: an object, a page and a definition at once.
const anything = `{"id":"1","name":"one","group":"g","version":1,"status":"SUCCESS","token":"t","enabled":true,
	"jobType":"CUSTOM","executionIds":["1"],"executionId":"1","nodeId":"n","nextCursor":null,"complete":true,
	"changes":{"name":["a","b"]},"definition":{"name":"one","jobType":"CUSTOM"},
	"schedule":{"kind":"MANUAL","timeZone":"Asia/Shanghai"},"username":"ann",
	"role":"viewer","results":[],"buckets":[],"total":1,"done":1,"minutes":[],"conditions":[],
	"planId":"p","plan":{"total":1,"jobCount":1,"complete":true},
	"items":[ITEMS]}`

// item is an entry of its page, of each name that the examples give.
const item = `{"id":"NAME","name":"NAME","group":"g","version":VERSION,"status":"SUCCESS","username":"ann","stream":"STDOUT",
	"seq":1,"line":"said","attempt":1,"time":"2026-11-14T03:00:00Z","enabled":true,"definition":{"name":"NAME"},
	"schedule":{"timeZone":"Asia/Shanghai"}}`

// conversation is what a run of the command line said to the server, and how it ended.
type conversation struct {
	calls []string
	out   string
	code  int
}

// talker runs command lines against a server that answers anything and keeps each call whole.
type talker struct {
	url, home string
	mu        sync.Mutex
	calls     []string
}

func newTalker(t *testing.T) *talker {
	t.Helper()
	k := &talker{home: t.TempDir()}
	var items []string
	for i, name := range []string{"one", "settle orders", "billing", "billing fails", "other", "more", "last"} {
		items = append(items, strings.NewReplacer("NAME", name, "VERSION", fmt.Sprint(i+1)).Replace(item))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		k.mu.Lock()
		k.calls = append(k.calls, fmt.Sprint(r.Method, r.URL, r.Header["If-Match"], r.Header["Accept"],
			r.Header["Authorization"], r.Header["Accept-Language"], string(body)))
		k.mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "/logs/stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `event: line
id: 1
data: {"line":"said","stream":"STDOUT","time":"2026-11-14T03:00:00Z"}

event: end
data: {}

`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, strings.Replace(anything, "ITEMS", strings.Join(items, ","), 1))
	}))
	t.Cleanup(server.Close)
	k.url = server.URL
	return k
}

func (k *talker) say(args []string) conversation {
	var out bytes.Buffer
	environ := []string{"HOME=" + k.home, "PLATFORM_SCHEDULER_SERVER=" + k.url, "PLATFORM_SCHEDULER_TOKEN=token"}
	code := Execute(args, &out, io.Discard, environ)
	k.mu.Lock()
	defer k.mu.Unlock()
	c := conversation{k.calls, out.String(), code}
	k.calls = nil
	return c
}

// everywhere are flags of each call: where it goes and how its answer is printed. Tests of their own hold them.
var everywhere = []string{"ca-file", "config", "context", "help", "output", "server", "utc"}

// asks is the flag of each question. Without a terminal nothing is asked; tests with one hold it.
const asks = "yes"

// printed are flags that change the print of an answer.
var printed = []string{"timestamps"}

// idle are flags that have nothing to do in one of the command lines, and are welcome all the same.
var idle = map[string]string{
	"secret set billing-token --force": "no job names a secret that is new, and a script need not know whether it is",
}

// values are what flags are given; every other flag gets one by its type.
var values = map[string]string{
	"action": "job.pause", "at": "2026-11-14T03:00:00Z", "cron": "@hourly", "dialect": "UNIX", "every": "70s",
	"format": "ndjson", "from": "2026-11-13T00:00:00Z", "labels": "team=a", "level": "INFO", "object": "job",
	"param": "a=b", "params": `{"c": 1}`, "schedule": `{"kind": "MANUAL"}`, "scheduled-time": "2026-11-14T03:00:00Z",
	"scope": "job:read", "secret-file": "password=FILE", "to": "2026-11-14T00:00:00Z",
	"until": "2099-11-14T00:00:00Z", "zone": "Asia/Tokyo",
}

// further are command lines beside the examples, for flags that need company.
var further = []string{
	"platform-scheduler audit export",
	"platform-scheduler channel create -f FILE",
	"platform-scheduler login --server SERVER --password-file FILE",
	"platform-scheduler password --password-file FILE --new-password-file FILE",
	"platform-scheduler secret set billing --value-file FILE",
	"platform-scheduler session end-others --password-file FILE",
	"platform-scheduler session list --password-file FILE",
	"platform-scheduler token create CI --scope job:write --password-file FILE",
	"platform-scheduler token list --password-file FILE",
	"platform-scheduler token revoke 0193 --password-file FILE",
	"platform-scheduler user create ann --password-file FILE --own-password-file FILE",
	"platform-scheduler user create ann --own-password-file FILE",
	"platform-scheduler user create ann --password-file FILE",
	"platform-scheduler user delete ann --own-password-file FILE",
	"platform-scheduler user end-sessions ann --own-password-file FILE",
	"platform-scheduler user reset-password ann --password-file FILE --own-password-file FILE",
	"platform-scheduler user reset-password ann --own-password-file FILE",
	"platform-scheduler user reset-password ann --password-file FILE",
	"platform-scheduler user update ann --role viewer --own-password-file FILE",
}

func value(f *pflag.Flag, file string) string {
	if v, ok := values[f.Name]; ok {
		return strings.ReplaceAll(v, "FILE", file)
	}
	switch kind := f.Value.Type(); {
	case f.Name == "file":
		return filepath.Join(filepath.Dir(file), "other.yaml")
	case strings.HasSuffix(f.Name, "file") || strings.HasSuffix(f.Name, "dir"):
		return file
	case kind == "bool":
		return "true"
	case kind == "int":
		return "7"
	case kind == "duration":
		return "7m"
	default:
		return "other"
	}
}

// lines are the examples of a command as arguments. Files that they name are there.
func lines(c *cobra.Command, file, server string) [][]string {
	var found [][]string
	path := strings.Fields(c.CommandPath())
	for line := range strings.Lines(c.Example + "\n" + strings.NewReplacer("FILE", file, "SERVER", server).
		Replace(strings.Join(further, "\n"))) {
		var args []string
		for i, part := range strings.Split(strings.TrimSpace(line), `"`) {
			if i%2 == 1 {
				args = append(args, part)
				continue
			}
			part, _, _ = strings.Cut(part, " > ")
			part, _, _ = strings.Cut(part, " && ")
			args = append(args, strings.Fields(strings.ReplaceAll(part, "'", ""))...)
		}
		if len(args) < len(path) || !slices.Equal(args[:len(path)], path) {
			continue
		}
		for i, a := range args {
			if before, name, cut := strings.Cut(a, "="); cut && strings.HasSuffix(name, ".txt") {
				args[i] = before + "=" + file
			} else if strings.HasSuffix(a, ".yaml") || strings.HasSuffix(a, ".txt") || strings.HasSuffix(a, "/") || a == "old" {
				args[i] = file
			}
		}
		found = append(found, args[1:])
	}
	return found
}

// beginning are the first three words of a command line.
func beginning(args []string) string { return strings.Join(args[:min(3, len(args))], " ") }

// given reports whether a command line has the flag already.
func given(args []string, f *pflag.Flag) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--"+f.Name || strings.HasPrefix(a, "--"+f.Name+"=") || f.Shorthand != "" && a == "-"+f.Shorthand
	})
}

// A flag misleads if it changes neither the call nor the end of the command. A user who narrows a list by it acts on
// the whole list.
func TestEveryFlagHasAnEffect(t *testing.T) {
	k := newTalker(t)
	file := filepath.Join(k.home, "one.yaml")
	for _, path := range []string{file, filepath.Join(k.home, "other.yaml")} {
		job := "{name: " + filepath.Base(path) + ", jobType: CUSTOM, jobClass: noop}\n"
		require.NoError(t, os.WriteFile(path, []byte(job), 0o600))
	}
	local := []string{
		"bench", "bench-node", "bench-target", "config", "health", "migrate", "server", "store", "version", "workflow",
	}
	tried := 0
	everyCommand(func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())
		// Below workflow, runs alone asks a server.
		asked := strings.HasPrefix(c.CommandPath(), path[0]+" workflow runs ")
		if c.RunE == nil || slices.Contains(local, path[1]) && !asked {
			return
		}
		baselines := lines(c, file, k.url)
		if len(baselines) == 0 {
			t.Errorf("%v: no example is a command line of its own", path)
		}
		flags := []*pflag.Flag{}
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		for _, f := range flags {
			if slices.Contains(everywhere, f.Name) || f.Name == asks {
				continue
			}
			tried++
			effects := 0
			for _, args := range baselines {
				before := k.say(args)
				after := k.say(append(slices.Clone(args), "--"+f.Name+"="+value(f, file)))
				changed := before.code != after.code || !slices.Equal(before.calls, after.calls) ||
					slices.Contains(printed, f.Name) && before.out != after.out
				if changed {
					effects++
				} else if before.code == exitGood && !given(args, f) && idle[beginning(args)+" --"+f.Name] == "" {
					t.Errorf("--%s changes nothing of %q", f.Name, strings.Join(args, " "))
				}
			}
			if effects == 0 {
				t.Errorf("%v: --%s changes nothing", path, f.Name)
			}
		}
	})
	require.Greater(t, tried, 150)
}
