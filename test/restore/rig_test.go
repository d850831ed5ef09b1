//go:build linux

package restore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// program is the built program with the settings of a standalone server.
type program struct {
	t      *testing.T
	binary string
	env    []string
}

// folder holds the program, which is built once.
var folder string

var binary = sync.OnceValues(func() (string, error) { return rig.Build(context.Background(), folder) })

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "restore-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// password is that of the first user of each store.
var password = "restore-" + rand.Text()

// build is nil where the short loop runs, which starts no servers: see make test.
func build(t *testing.T) *program {
	t.Helper()
	if testing.Short() {
		return nil
	}
	path, err := binary()
	require.NoError(t, err)
	return &program{t: t, binary: path, env: []string{
		"PS_AUTH_INITIAL_ADMIN_PASSWORD=" + password, "PS_NODE_ID=only", "PS_SERVER_ADDR=127.0.0.1:0",
	}}
}

// on is the program with a data folder.
func (p *program) on(folder string, more ...string) *program {
	q := *p
	q.env = append(append([]string{"PS_DATA_DIR=" + folder}, p.env...), more...)
	return &q
}

// command runs the program to its end.
func (p *program) command(args ...string) (out string, err error) {
	cmd := exec.CommandContext(p.t.Context(), p.binary, args...)
	cmd.Env = append(os.Environ(), p.env...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err = cmd.Run()
	return text.String(), err
}

// must is command that succeeds.
func (p *program) must(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...)
	require.NoError(p.t, err, "%v: %s", args, out)
	return out
}

// refused is command that fails, and says why.
func (p *program) refused(why string, args ...string) {
	p.t.Helper()
	out, err := p.command(args...)
	require.Error(p.t, err, out)
	require.Contains(p.t, out, why)
}

// killed runs the program and kills it: a while after it began, or after it had begun something. ended reports that it
// was done before.
func (p *program) killed(after time.Duration, begun func() bool, args ...string) (ended bool) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.binary, args...)
	cmd.Env = append(os.Environ(), p.env...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	require.NoError(p.t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err, over := error(nil), false
	for began := time.Now(); !over && time.Since(began) < time.Minute && !begun(); {
		over, err = within(done, time.Millisecond)
	}
	if !over {
		over, err = within(done, after)
	}
	if !over {
		_ = cmd.Process.Kill()
		err = <-done
	}
	code := cmd.ProcessState.ExitCode()
	require.True(p.t, err == nil || code < 0, "it ended by itself with %d: %v: %s", code, args, &text)
	return err == nil
}

// within waits so long for the end of a process.
func within(done <-chan error, span time.Duration) (over bool, err error) {
	select {
	case err := <-done:
		return true, err
	case <-time.After(span):
		return false, nil
	}
}

// atOnce is for killed: nothing has to begin.
func atOnce() bool { return true }

// exists reports whether a file of the pattern is there.
func exists(t *testing.T, pattern string) bool {
	t.Helper()
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return len(found) > 0
}

// server starts the program as a server, which ends with the test or by the returned function.
func (p *program) server() (client *crash.Client, stop func()) {
	p.t.Helper()
	client, node := p.serve()
	return client, node.Kill
}

// serve is server that gives the process.
func (p *program) serve() (client *crash.Client, node *rig.Node) {
	p.t.Helper()
	addr, err := rig.FreeAddr(p.t.Context())
	require.NoError(p.t, err)
	node = &rig.Node{Binary: p.binary, Addr: addr, Env: p.env}
	_, err = node.Start(p.t.Context(), "")
	require.NoError(p.t, err, node.Stderr())
	p.t.Cleanup(node.Kill)
	client = &crash.Client{Base: "http://" + addr}
	require.NoError(p.t, client.Login(p.t.Context(), password))
	return client, node
}

// backup writes a backup and returns its file.
func (p *program) backup(folder string, args ...string) string {
	p.t.Helper()
	var b struct {
		File string `json:"file"`
	}
	out := p.must(append([]string{"-o", "json", "store", "backup", folder}, args...)...)
	require.NoError(p.t, json.Unmarshal([]byte(out), &b), out)
	return b.File
}

// ticking makes a job that fires each 200 ms.
func ticking(ctx context.Context, t *testing.T, c *crash.Client, name string) string {
	t.Helper()
	job, err := c.Create(ctx, map[string]any{
		"name": name, "jobType": "CUSTOM", "jobClass": "noop",
		"schedule": map[string]any{"kind": "FIXED_RATE", "intervalMs": 200},
	})
	require.NoError(t, err)
	return job.ID
}

// runs waits until a job has so many runs.
func runs(t *testing.T, c *crash.Client, job string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		rows, err := c.Executions(t.Context(), job)
		return err == nil && len(rows) >= n
	}, 30*time.Second, 100*time.Millisecond)
}

func copyKey(t *testing.T, from, to string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(from, datafolder.KeyFile))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(to, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to, datafolder.KeyFile), key, 0o600))
}
