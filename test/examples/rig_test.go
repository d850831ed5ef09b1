//go:build linux

package examples_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// soon is how long anything may take that has nothing to wait for.
const soon = time.Minute

// stage is a server, and a checkout beside it in which its users work.
type stage struct {
	dir string
	env []string
	api *client.Client
	// jobs are the ids of the document's jobs, by name.
	jobs map[string]string
	// triggered are the ids of all runs that were asked for.
	triggered []string
}

// newStage starts the server, and runs the commands that are needed once.
func newStage(t *testing.T) *stage {
	t.Helper()
	bin, data := t.TempDir(), t.TempDir()
	binary, err := rig.Build(t.Context(), bin)
	require.NoError(t, err)
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	node := &rig.Node{Binary: binary, Addr: addr, Env: []string{"PS_DATADIR=" + data}}
	_, err = node.Start(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() {
		node.Stop()
		if t.Failed() {
			t.Logf("the server said:\n%s", node.Stderr())
		}
	})
	s := &stage{dir: checkout(t), api: &client.Client{Server: "http://" + addr}, jobs: map[string]string{}}
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+t.TempDir(),
		"SERVER=http://"+addr, "DATA_DIR="+data)
	for _, command := range s.commands(t, "examples/README.md", "Once") {
		out, err := s.run(t, command)
		require.NoError(t, err, "%s: %s", command, out)
	}

	password, err := os.ReadFile(filepath.Join(data, "initial-admin-password"))
	require.NoError(t, err)
	var login struct{ Token string }
	s.call(t, http.MethodPost, "/auth/login",
		map[string]any{"username": "admin", "password": strings.TrimSpace(string(password))}, &login)
	s.api.Token = login.Token
	var jobs struct{ Items []struct{ ID, Name string } }
	s.call(t, http.MethodGet, "/jobs", nil, &jobs)
	for _, j := range jobs.Items {
		s.jobs[j.Name] = j.ID
	}
	return s
}

// checkout copies what the examples are built from, so that their builds leave nothing in the sources.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"examples", "sdk", "domain"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("../..", name))))
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

// commands are the lines of the first block of shell of a page, or of a part of it.
func (s *stage) commands(t *testing.T, page, part string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, page))
	require.NoError(t, err)
	_, below, _ := strings.Cut("\n"+string(text), "\n## "+part)
	if part == "" {
		below = string(text)
	}
	block := regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindStringSubmatch(below)
	require.NotNil(t, block, "%s has no commands", page)
	return strings.Split(block[1], "\n")
}

// run carries out a command to its end.
func (s *stage) run(t *testing.T, command string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, time.Second
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// call asks the API.
func (s *stage) call(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	require.NoError(t, s.api.Call(t.Context(), method, path, nil, body, answer), "%s %s", method, path)
}

// trigger asks for a run of a job.
func (s *stage) trigger(t *testing.T, job string, params map[string]any) (id string) {
	t.Helper()
	require.Contains(t, s.jobs, job)
	var answer struct{ ExecutionIDs []string }
	s.call(t, http.MethodPost, "/jobs/"+s.jobs[job]+"/trigger", map[string]any{"params": params}, &answer)
	require.Len(t, answer.ExecutionIDs, 1)
	s.triggered = append(s.triggered, answer.ExecutionIDs...)
	return answer.ExecutionIDs[0]
}

// run is a run as it is shown.
type run struct {
	ID, Status, Reason, Result, ErrorMessage string
	RetryOf                                  *string
	Attempt, RetryCount, Progress            int
}

func (s *stage) look(t *testing.T, id string) (r run) {
	t.Helper()
	s.call(t, http.MethodGet, "/executions/"+id, nil, &r)
	return r
}

// ended waits for the end of a run.
func (s *stage) ended(t *testing.T, id string) run {
	t.Helper()
	return s.await(t, id, "it ends", func(r run) bool { return r.Status != "WAITING" && r.Status != "RUNNING" })
}

func (s *stage) await(t *testing.T, id, what string, condition func(run) bool) (r run) {
	t.Helper()
	require.Eventually(t, func() bool {
		r = s.look(t, id)
		return condition(r)
	}, soon, 20*time.Millisecond, "%s: %s", what, id)
	return r
}

// lines are those of a run's log.
func (s *stage) lines(t *testing.T, id string) (out []string) {
	t.Helper()
	type line struct{ Line string }
	all, err := client.List[line](t.Context(), s.api, "/executions/"+id+"/logs", nil, 0)
	require.NoError(t, err)
	for _, x := range all {
		out = append(out, x.Line)
	}
	return out
}

// attempts are those of a run.
func (s *stage) attempts(t *testing.T, id string) []run {
	t.Helper()
	var page struct{ Items []run }
	s.call(t, http.MethodGet, "/executions/"+id+"/attempts", nil, &page)
	return page.Items
}

// process is a program that was started.
type process struct {
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

// launch starts a program by its command.
func (s *stage) launch(t *testing.T, command string, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("bash", "-c", "exec "+command), said: &said{}, code: make(chan int, 1)}
	p.cmd.Dir, p.cmd.Env = s.dir, append(s.env, env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.said, p.said, time.Second
	require.NoError(t, p.cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait() // the code says it
		p.code <- p.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-ended
		if t.Failed() {
			t.Logf("the program said:\n%s", p.said)
		}
	})
	return p
}

// terminate asks the program to end, and returns its code.
func (p *process) terminate(t *testing.T) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case code := <-p.code:
		return code
	case <-time.After(soon):
		require.Fail(t, "the program does not end")
		return 0
	}
}
