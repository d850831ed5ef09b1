//go:build linux

package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// build makes a program of this module.
func build(t *testing.T, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// process is a worker.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said *said
	code chan int
}

// said is what a process has printed.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String implements fmt.Stringer.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func launch(t *testing.T, dir string, env []string, command ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(command[0], command[1:]...), said: &said{}, code: make(chan int, 1)}
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.said, p.said, time.Second
	require.NoError(t, p.cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait() // the code says it
		p.code <- p.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		p.kill()
		<-ended
		if t.Failed() {
			t.Logf("the worker said:\n%s", p.said)
		}
	})
	return p
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may have ended

func (p *process) terminate() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
}

// exit waits for the end of the process, and returns its code.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case code := <-p.code:
		return code
	case <-time.After(40 * time.Second):
		require.Fail(p.t, "the worker does not end", "%s", p.said)
		return 0
	}
}

// worker is an instance as it is shown.
func (b *binary) worker(group, instance string) (w struct{ ID, Instance, Status string }) {
	b.t.Helper()
	var page struct {
		Items []struct{ ID, Instance, Status string }
	}
	b.must(200, http.MethodGet, "/api/v1/workers?group="+group, nil, &page)
	for _, w := range page.Items {
		if w.Instance == instance {
			return w
		}
	}
	require.Fail(b.t, "no such worker", instance)
	return w
}

// lines are those of a run's log.
func (b *binary) lines(id string) (out []string) {
	b.t.Helper()
	var page struct{ Items []struct{ Line string } }
	b.must(200, http.MethodGet, "/api/v1/executions/"+id+"/logs", nil, &page)
	for _, x := range page.Items {
		out = append(out, x.Line)
	}
	return out
}

// crew is a worker group, with the worker of the conformance suite for its members.
type crew struct {
	*binary
	name, program, dir string
	members            map[string]*process
}

// newCrew makes a worker group that may have secrets.
func newCrew(b *binary, program, name string) *crew {
	b.t.Helper()
	c := &crew{binary: b, name: name, program: program, dir: b.t.TempDir(), members: map[string]*process{}}
	b.must(201, http.MethodPut, "/api/v1/worker-groups/"+name,
		map[string]any{"jobGroups": []string{"default"}, "secrets": true}, nil)
	var token struct{ Token string }
	b.must(201, http.MethodPost, "/api/v1/worker-groups/"+name+"/tokens",
		map[string]any{"name": "e2e", "expiresAt": time.Now().Add(time.Hour)}, &token)
	require.NoError(b.t, os.WriteFile(filepath.Join(c.dir, "token"), []byte(token.Token), 0o600))
	return c
}

// join starts a member.
func (c *crew) join(instance string, env ...string) *process {
	c.t.Helper()
	p := launch(c.t, c.dir, append([]string{
		"PS_SERVERS=" + c.url, "PS_TOKEN_FILE=token", "PS_GROUP=" + c.name, "PS_INSTANCE=" + instance,
		"PS_GRACE_MS=60000", "PS_LEDGER=ledger-" + instance,
	}, env...), c.program)
	c.members[instance] = p
	return p
}

// begin triggers a new job for the crew.
func (c *crew) begin(handler string, data, more map[string]any) (execution string) {
	c.t.Helper()
	job := map[string]any{
		"jobType": "CUSTOM", "jobClass": handler, "jobData": data, "routing": map[string]any{"workers": c.name},
	}
	for k, v := range more {
		job[k] = v
	}
	return c.trigger(job, "")
}

// entered waits until a handler has begun, and returns its instance.
func (c *crew) entered(id string) (instance string) {
	c.t.Helper()
	return c.noted("begin "+id+":", "", nil)
}

// noted waits until a ledger, but those of the instances that are not asked, has a line that begins and ends so.
func (c *crew) noted(begin, end string, but map[string]bool) (instance string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for name := range c.members {
			text, _ := os.ReadFile(filepath.Join(c.dir, "ledger-"+name)) // it may not be there yet
			for line := range strings.Lines(string(text)) {
				if !but[name] && strings.HasPrefix(line, begin) && strings.HasSuffix(line, end+"\n") {
					instance = name
					return true
				}
			}
		}
		return false
	}, 40*time.Second, 20*time.Millisecond, "%s", fmt.Sprintf("no ledger has %s…%s", begin, end))
	return instance
}
