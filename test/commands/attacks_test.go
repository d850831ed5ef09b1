//go:build linux

package commands_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // opens the store behind the back of the server

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/test/commands"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// nobody is the number of the user that commands run as where the test is root.
const nobody = 65534

// target is a server that commands attack.
type target struct {
	*rig.Node
	t        *testing.T
	data     string
	password string
	token    string
}

// attacked starts the product. own: as the user that its commands run as.
func attacked(t *testing.T, binary string, own bool, env ...string) *target {
	t.Helper()
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	s := &target{t: t, data: filepath.Join(executortest.Folder(t), "data"), password: "canary-password-7f3a"}
	require.NoError(t, os.Mkdir(s.data, 0o755))
	id := fmt.Sprintf("attacked-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(s.data)))
	s.Node = &rig.Node{Binary: binary, Addr: addr, Env: append([]string{
		"PS_DATA_DIR=" + s.data, "PS_AUTH_INITIAL_ADMIN_PASSWORD=" + s.password, "PS_NODE_ID=" + id,
		"PS_SERVER_SHUTDOWN_GRACE_SEC=0",
	}, env...)}
	switch {
	case os.Geteuid() != 0:
	case own:
		require.NoError(t, os.Chown(s.data, nobody, nobody))
		s.Attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	default:
		s.Env = append(s.Env, "PS_EXECUTOR_COMMAND_USER=nobody")
	}
	s.start()
	t.Cleanup(func() { require.Zero(t, s.Stop(), s.Stderr()) })
	return s
}

func (s *target) start() {
	s.t.Helper()
	_, err := s.Start(s.t.Context(), "")
	require.NoError(s.t, err)
	var login struct{ Token string }
	require.Equal(s.t, 200, s.call(http.MethodPost, "/auth/login",
		map[string]any{"username": "admin", "password": s.password}, &login))
	s.token = login.Token
}

// call calls the API and returns the status of the answer.
func (s *target) call(method, path string, body, answer any) int {
	s.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Addr+"/api/v1"+path, bytes.NewReader(raw))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err = io.ReadAll(res.Body)
	require.NoError(s.t, err)
	if answer != nil {
		require.NoError(s.t, json.Unmarshal(raw, answer), string(raw))
	}
	return res.StatusCode
}

// create adds a job with these data.
func (s *target) create(name string, data map[string]any) (id string) {
	s.t.Helper()
	var job struct{ ID string }
	require.Equal(s.t, 201, s.call(http.MethodPost, "/jobs", map[string]any{
		"name": name, "jobType": "COMMAND",
		"jobData": data,
	}, &job))
	return job.ID
}

// execution is what is read of a run.
type execution struct{ Status, Reason, ErrorMessage, Result string }

// run starts a job and waits for the end of its run.
func (s *target) run(job string, params map[string]any) (x execution) {
	s.t.Helper()
	var made struct{ ExecutionIDs []string }
	require.Equal(s.t, 202, s.call(http.MethodPost, "/jobs/"+job+"/trigger", map[string]any{"params": params}, &made))
	require.Eventually(s.t, func() bool {
		x = execution{}
		require.Equal(s.t, 200, s.call(http.MethodGet, "/executions/"+made.ExecutionIDs[0], nil, &x))
		return x.Status != "WAITING" && x.Status != "RUNNING"
	}, 60*time.Second, 20*time.Millisecond)
	return x
}

func script(text string) map[string]any {
	return map[string]any{"script": text, "interpreter": "sh"}
}

// A command that runs as the server's own user reads neither the environment of
// the server and its helper, which may hold passwords and keys, nor their memory.
func TestACommandOfTheServersUserReadsNeitherEnvironmentNorMemory(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	binary := built(t)
	s := attacked(t, binary, true)
	helper := fmt.Sprintf("$(pgrep -P %d -f %s)", s.Pid(), executors.HelperCommand)
	job := s.create("spy", script(fmt.Sprintf(`
for pid in %d $PPID %s; do
	test -d /proc/$pid || echo "no process"
	tr '\0' '\n' </proc/$pid/environ && echo "environ of $pid"
	head -c 1 /proc/$pid/mem && echo "mem of $pid"
	ls /proc/$pid/fd && echo "fd of $pid"
	cat /proc/$pid/maps && echo "maps of $pid"
done 2>/dev/null; echo done; id -u; cat /proc/%d/environ`, s.Pid(), helper, s.Pid())))
	x := s.run(job, nil)
	require.NotContains(t, x.Result+x.ErrorMessage, s.password)
	if os.Geteuid() == 0 {
		require.Equal(t, fmt.Sprintf("done\n%d", nobody), x.Result)
	} else {
		require.True(t, strings.HasPrefix(x.Result, "done\n"), x.Result)
	}
	require.Equal(t, "EXIT_CODE", x.Reason)
	require.Contains(t, x.ErrorMessage, "ermission denied")
	// The server itself still sees itself: its figures are whole.
	res, err := http.Get("http://" + s.Addr + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	figures, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, name := range []string{"process_open_fds ", "process_resident_memory_bytes ", "process_cpu_seconds_total "} {
		require.Contains(t, string(figures), "\n"+name)
	}
}

// A leftover of a node that is not root is found although it is concealed.
func TestANodeThatIsNotRootEndsWhatItsFormerLifeLeft(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), true)
	job := s.create("long", script("echo up; sleep 300"))
	var made struct{ ExecutionIDs []string }
	require.Equal(t, 202, s.call(http.MethodPost, "/jobs/"+job+"/trigger", map[string]any{}, &made))
	helper := 0
	require.Eventually(t, func() bool {
		helper = commands.HelperOf(s.Pid(), executors.HelperCommand)
		return helper != 0
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, syscall.Kill(helper, syscall.SIGSTOP))
	s.Kill()
	s.start()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", helper))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 20*time.Second, 10*time.Millisecond, "the frozen helper is gone")
}

// Nobody else reads the store, although its folder was there before.
func TestACommandOfAnotherUserReadsNoFileOfTheStore(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), false)
	entries, err := os.ReadDir(s.data)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, e.Name())
	}
	if !prooftest.Root(t) {
		return
	}
	x := s.run(s.create("thief", script(fmt.Sprintf("ls %s; cat %s/*", s.data, s.data))), nil)
	require.Equal(t, "FAILED", x.Status)
	require.NotContains(t, x.Result, "SQLite format")
}

// Who may start a job, and not write it, chooses nothing of what it executes;
// what an older version stored does not run, and comes back by no way.
func TestAParameterIsNeverCode(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), false)
	injection := map[string]any{"command": []string{"sh", "-c", "echo day ${params.day}"}}
	body := map[string]any{"name": "inline", "jobType": "COMMAND", "jobData": injection}
	var problem struct {
		Errors []struct{ Field, Message string }
	}
	require.Equal(t, 422, s.call(http.MethodPost, "/jobs", body, &problem))
	require.Equal(t, "jobData.command[2]", problem.Errors[0].Field)
	require.Contains(t, problem.Errors[0].Message, "env")

	job := s.create("inline", map[string]any{
		"command": []string{"sh", "-c", "echo day $DAY"},
		"env":     map[string]string{"DAY": "${params.day}"},
	})
	require.Equal(t, "day x; id", s.run(job, map[string]any{"day": "x; id"}).Result)
	require.Equal(t, 422, s.call(http.MethodPut, "/jobs/"+job, merge(body, "version", 1), nil))

	require.Zero(t, s.Stop(), s.Stderr())
	store, err := sql.Open("sqlite", filepath.Join(s.data, datafolder.DatabaseFile))
	require.NoError(t, err)
	old, err := json.Marshal(injection)
	require.NoError(t, err)
	_, err = store.ExecContext(t.Context(),
		`UPDATE scheduler_job_definition SET job_data = ?, retry_policy = '{"maxRetries":3,"backoff":"FIXED","intervalMs":100}'`, string(old))
	require.NoError(t, err)
	_, err = store.ExecContext(t.Context(),
		`UPDATE scheduler_job_version SET definition = json_set(definition, '$.jobData', ?)`, string(old))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	s.start()
	x := s.run(job, map[string]any{"day": "x; id"})
	require.Equal(t, []string{"FAILED", "INVALID", ""}, []string{x.Status, x.Reason, x.Result}, "without a retry")
	require.Contains(t, x.ErrorMessage, "jobData.command[2]: must not hold ${params.day}")
	require.Contains(t, s.Stderr(), "a definition is refused by this version")
	require.Contains(t, s.Stderr(), `"job":"inline"`)
	require.Equal(t, 422, s.call(http.MethodPost, "/jobs/"+job+"/copy", map[string]any{"name": "copied"}, nil))
	require.Equal(t, 422, s.call(http.MethodPost, "/jobs/"+job+"/versions/1/restore", map[string]any{"version": 1}, nil))
	require.Equal(t, 422, s.call(http.MethodPost, "/import",
		map[string]any{"version": 1, "jobs": []any{merge(body, "name", "imported")}}, nil))
}

func merge(body map[string]any, key string, value any) map[string]any {
	out := map[string]any{key: value}
	for k, v := range body {
		if k != key {
			out[k] = v
		}
	}
	return out
}

func built(t *testing.T) string {
	t.Helper()
	binary, err := rig.Build(t.Context(), executortest.Folder(t))
	require.NoError(t, err)
	require.NoError(t, exec.Command("chmod", "755", binary).Run())
	return binary
}

// cpuOf is the processor time of a process so far.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// Commands that talk without end cost the server next to nothing when their
// logs are full: they are slowed down, and the end of what they say is kept.
func TestATalkingCommandCostsTheServerLittle(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), false)
	talkers := []string{
		"yes",
		"yes $(head -c 4000 /dev/zero | tr '\\0' x)",
		"cat /dev/zero",
		"perl -e '$|=1; print \"y\\n\" while 1'",
	}
	var ends []chan execution
	for i, talk := range talkers {
		job, end := s.create(fmt.Sprintf("talker %d", i), script("timeout 9 "+talk+"; echo; echo the end")),
			make(chan execution, 1)
		ends = append(ends, end)
		go func() { end <- s.run(job, nil) }()
	}
	time.Sleep(5 * time.Second) // the logs are full
	const watched = 3 * time.Second
	before, began := cpuOf(t, s.Pid()), time.Now()
	time.Sleep(watched)
	share := 100 * float64(cpuOf(t, s.Pid())-before) / float64(time.Since(began)) / float64(len(talkers))
	t.Logf("%.1f %% of a core for each of %d", share, len(talkers))
	require.Less(t, share, 10.0)
	for _, end := range ends {
		x := <-end
		require.Equal(t, "SUCCESS", x.Status, x.ErrorMessage)
		require.True(t, strings.HasSuffix(x.Result, "the end"), "%.100q", x.Result)
	}
}

// The author of a limit learns that it was the limit.
func TestACommandThatIsEndedByALimitSaysSo(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), false)
	data := script("while :; do :; done")
	data["cpuSec"] = 1
	x := s.run(s.create("busy", data), nil)
	// The kernel enforces by whole ticks, and counts what a busy machine left of them.
	require.Regexp(t, `it used up its limit of 1 s of processor time for a process \(jobData\.cpuSec; (0\.[1-9]|1\.\d) s were`,
		x.ErrorMessage)
	data = script("perl -e 'while (1) {}'; exit $?")
	data["cpuSec"] = 1
	x = s.run(s.create("a child is busy", data), nil)
	require.Contains(t, x.ErrorMessage, "ended with exit code 152: it used up its limit of 1 s")
	data = script(`perl -e 'push @a, "x" x $_ for 1_000_000 .. 1_000_200'`)
	data["memoryMb"] = 64
	x = s.run(s.create("large", data), nil)
	require.Equal(t, "FAILED", x.Status)
	require.Contains(t, x.ErrorMessage, "limit")
	require.Contains(t, x.ErrorMessage, "64 MiB (jobData.memoryMb")
}

// Whoever may define a command that runs as the server's own user is an admin
// in all but name; the server says so as soon as that is a second person.
func TestAServerSaysThatItsUserIsWithinReach(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := attacked(t, built(t), true)
	ready := func() string {
		res, err := http.Get("http://" + s.Addr + "/readyz")
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode, "it works: %s", body)
		return string(body)
	}
	require.NotContains(t, ready(), "commands run as the server's own user")
	require.Equal(t, 201, s.call(http.MethodPost, "/users",
		map[string]any{"username": "second", "password": "correct-horse-7f3a", "role": "operator"}, nil))
	require.Zero(t, s.Stop(), s.Stderr())
	s.start()
	require.Eventually(t, func() bool {
		return strings.Contains(ready(), "commands run as the server's own user")
	}, 10*time.Second, 20*time.Millisecond)
	require.Contains(t, s.Stderr(), "executor.command.user")
	var overview struct {
		DegradedParts []struct{ Part, Reason string }
	}
	require.Equal(t, 200, s.call(http.MethodGet, "/monitor/overview", nil, &overview))
	require.Condition(t, func() bool {
		for _, p := range overview.DegradedParts {
			if p.Part == "commands" {
				return true
			}
		}
		return false
	}, "%v", overview)
	require.Equal(t, "SUCCESS", s.run(s.create("still on", script("true")), nil).Status, "nothing is switched off")
}
