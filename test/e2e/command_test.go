//go:build linux

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// binary is the product as a process of its own.
type binary struct {
	*server
	dir  string
	addr string
	node string
	// env is added to the environment of every life.
	env []string
	cmd *exec.Cmd
}

func startBinary(t *testing.T) *binary {
	t.Helper()
	return startBinaryWith(t)
}

// startBinaryWith starts the product with more in its environment.
func startBinaryWith(t *testing.T, env ...string) *binary {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &binary{server: &server{t: t}, dir: t.TempDir(), addr: free.Addr().String(), env: env}
	require.NoError(t, free.Close())
	b.url = "http://" + b.addr
	b.node = filepath.Base(b.dir) + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(rand.Int())
	b.start()
	t.Cleanup(func() {
		b.kill()
		// Where another user runs the commands, their folders are not in the data folder.
		folders, err := filepath.Glob(filepath.Join(os.TempDir(), "platform-scheduler-"+b.node+".*"))
		require.NoError(t, err)
		for _, folder := range folders {
			require.NoError(t, os.RemoveAll(folder))
		}
	})
	password, err := os.ReadFile(filepath.Join(b.dir, "initial-admin-password"))
	require.NoError(t, err)
	var login struct{ Token string }
	b.must(200, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"username": "admin", "password": strings.TrimSpace(string(password))}, &login)
	b.token = login.Token
	return b
}

func (b *binary) start() {
	b.t.Helper()
	log, err := os.Create(b.logFile())
	require.NoError(b.t, err)
	defer log.Close()
	b.cmd = exec.Command(os.Args[0], "server")
	b.cmd.Env = []string{
		asServer + "=1", "PATH=" + os.Getenv("PATH"), "PS_DATADIR=" + b.dir, "PS_SERVER_ADDR=" + b.addr,
		"PS_NODE_ID=" + b.node,
	}
	b.cmd.Env = append(b.cmd.Env, b.env...)
	if os.Geteuid() == 0 {
		b.cmd.Env = append(b.cmd.Env, "PS_EXECUTOR_COMMAND_USER=nobody")
	}
	b.cmd.Stdout, b.cmd.Stderr = log, log
	require.NoError(b.t, b.cmd.Start())
	require.Eventually(b.t, func() bool {
		res, err := http.Get(b.url + "/readyz")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond, "the server is ready")
}

// logLines are what the server has logged.
func (b *binary) logLines() []string {
	b.t.Helper()
	text, err := os.ReadFile(b.logFile())
	require.NoError(b.t, err)
	return strings.Split(string(text), "\n")
}

func (b *binary) logFile() string { return filepath.Join(b.dir, "server.log") }

func (b *binary) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// command makes a job of a script and runs it.
func (b *binary) command(script string, more map[string]any) (execution string) {
	b.t.Helper()
	job := map[string]any{
		"name": fmt.Sprintf("command %d", rand.Int()), "jobType": "COMMAND", "onNodeLoss": "FAIL",
		"jobData": map[string]any{"script": script, "interpreter": "sh"},
	}
	for k, v := range more {
		job[k] = v
	}
	var created struct{ ID string }
	b.must(201, http.MethodPost, "/api/v1/jobs", job, &created)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	b.must(202, http.MethodPost, "/api/v1/jobs/"+created.ID+"/trigger", map[string]any{}, &run)
	return run.IDs[0]
}

type ending struct{ Status, Reason, ErrorMessage, Result string }

func (b *binary) ends(id string) (e ending) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		b.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &e)
		return e.Status != "WAITING" && e.Status != "RUNNING"
	}, 20*time.Second, 10*time.Millisecond, "the run ends")
	return e
}

// sleepers counts processes that sleep for a number of seconds that is
// nobody else's.
func sleepers(seconds int) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file)
		if strings.HasPrefix(string(line), fmt.Sprintf("sleep\x00%d\x00", seconds)) {
			n++
		}
	}
	return n
}

func TestACommandIsRunByTheServer(t *testing.T) {
	b := startBinary(t)
	end := b.ends(b.command("echo out; echo oops >&2; exit 3", nil))
	require.Equal(t, ending{"FAILED", "EXIT_CODE", "ended with exit code 3: oops", "out"}, end)
	id := b.command("id -un; env; pwd", nil)
	end = b.ends(id)
	require.Equal(t, "SUCCESS", end.Status, end.ErrorMessage)
	require.NotContains(t, end.Result, "PS_", "nothing of the server's environment")
	if os.Geteuid() == 0 {
		require.True(t, strings.HasPrefix(end.Result, "nobody\n"), end.Result)
	}
	var logs struct {
		Items []struct{ Stream, Line string }
	}
	b.must(200, http.MethodGet, "/api/v1/executions/"+id+"/logs", nil, &logs)
	require.NotEmpty(t, logs.Items)
	require.Equal(t, "STDOUT", logs.Items[0].Stream)
	_, metrics := b.call(http.MethodGet, "/metrics", nil)
	require.Regexp(t, `ps_command_isolation_info{ending="(cgroup|process tree)",memory="(cgroup|rlimit)",processes="(cgroup|rlimit)",user="\w+"} 1`, string(metrics))
}

// A time-out and a cancel end the whole tree, and the run when it is gone.
func TestACommandThatWillNotEndIsEnded(t *testing.T) {
	b := startBinary(t)
	seconds := 100_000 + rand.IntN(800_000)
	id := b.command(fmt.Sprintf("(setsid sleep %d &); sleep %d", seconds, seconds), map[string]any{"timeoutSec": 1})
	end := b.ends(id)
	require.Equal(t, []string{"TIMEOUT", "TIMEOUT"}, []string{end.Status, end.Reason})
	require.Zero(t, sleepers(seconds))
	id = b.command(fmt.Sprintf("sleep %d", seconds), nil)
	require.Eventually(t, func() bool { return sleepers(seconds) == 1 }, 10*time.Second, 10*time.Millisecond)
	b.must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
	require.Equal(t, "CANCELLED", b.ends(id).Status)
	require.Zero(t, sleepers(seconds))
}

// Nothing that the platform started outlives a server that was killed, and the
// next one records what became of the run.
func TestNothingOfACommandOutlivesAKilledServer(t *testing.T) {
	b := startBinary(t)
	seconds := 100_000 + rand.IntN(800_000)
	id := b.command(fmt.Sprintf("(env -i setsid sleep %d &); trap '' TERM; sleep %d", seconds, seconds), nil)
	require.Eventually(t, func() bool { return sleepers(seconds) == 2 }, 10*time.Second, 10*time.Millisecond)
	b.kill()
	require.Eventually(t, func() bool { return sleepers(seconds) == 0 }, 10*time.Second, 10*time.Millisecond)
	b.start()
	end := b.ends(id)
	require.Equal(t, []string{"FAILED", "NODE_LOST"}, []string{end.Status, end.Reason})
	log, err := os.ReadFile(b.logFile())
	require.NoError(t, err)
	require.NotContains(t, string(log), `"level":"ERROR"`)
}
