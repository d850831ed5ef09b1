package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// shown is what `make cluster` prints, line by line.
type shown struct {
	t     *testing.T
	lines chan string
	all   []string
}

// next is the next line with a match, and what the pattern has caught.
func (s *shown) next(pattern string) []string {
	s.t.Helper()
	re, bound := regexp.MustCompile(pattern), time.After(time.Minute)
	for {
		select {
		case line, ok := <-s.lines:
			require.True(s.t, ok, "it ended before a line matched %s:\n%s", pattern, strings.Join(s.all, "\n"))
			s.all = append(s.all, line)
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			}
		case <-bound:
			require.Fail(s.t, "nothing like it is printed", "%s in\n%s", pattern, strings.Join(s.all, "\n"))
		}
	}
}

// runsOn waits until each of the nodes has shown a run from now on.
func (s *shown) runsOn(nodes ...string) {
	s.t.Helper()
	for seen := map[string]bool{}; len(seen) < len(nodes); {
		seen[s.next(fmt.Sprintf(`^(%s)  \d\d:\d\d:\d\d`, strings.Join(nodes, "|")))[1]] = true
	}
}

// What `make cluster` starts beside its servers: every node runs something, one
// may be killed, and nothing of it is left behind.
func TestMakeClusterRunsThreeNodesAndGoesOnWithoutOne(t *testing.T) {
	dbtest.NeedMySQL(t)
	redistest.NeedRedis(t)
	binary, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "../services/cluster")
	cmd.Env = append(os.Environ(), "BINARY="+binary, asServer+"=1", "PS_TEST_MYSQL_DSN="+dbtest.MySQL(t).DSN,
		"CLUSTER_SECONDS=120")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	s := &shown{t: t, lines: make(chan string, 10_000)}
	go func() {
		defer close(s.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			s.lines <- in.Text()
		}
	}()
	var urls []string
	var pids []int
	for range 3 {
		m := s.next(`node-\d +(http://\S+)  pid (\d+)`)
		pid, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		urls, pids = append(urls, m[1]), append(pids, pid)
	}
	password, err := os.ReadFile(filepath.Join("../..", s.next(`password  in (\S+)`)[1]))
	require.NoError(t, err)
	s.runsOn("node-1", "node-2", "node-3")
	s.next(`^node-\d  .*SUCCESS +print the planned time`)

	require.NoError(t, syscall.Kill(pids[1], syscall.SIGKILL))
	s.next(`^node-2 has ended`)
	s.next(`^node-\d  .*node=node-2 status=DOWN`)
	s.runsOn("node-1", "node-3")
	c := &server{t: t, url: urls[2]}
	var login struct{ Token string }
	c.must(200, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"username": "admin", "password": strings.TrimSpace(string(password))}, &login)
	c.token = login.Token
	var jobs struct{ Items []any }
	c.must(200, http.MethodGet, "/api/v1/jobs", nil, &jobs)
	examples, err := filepath.Glob("../../configs/examples/*.yaml")
	require.NoError(t, err)
	require.Len(t, jobs.Items, len(examples), "each is made once, although three nodes apply them")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for line := range s.lines { // until everything that could print has ended
		s.all = append(s.all, line)
	}
	require.ErrorContains(t, cmd.Wait(), "exit status 130")
	for _, pid := range pids {
		require.True(t, ended(t, pid), "the process %d outlived the script", pid)
	}
}

// ended reports whether a process has ended. One that nobody has reaped yet keeps its number and nothing else: the
// script has ended, and who inherits its children reaps them at leisure.
func ended(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) // systems without /proc say as much
	}
	require.NoError(t, err)
	state := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

func TestAZombieHasEndedAndAProcessThatRunsHasNot(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Log("NOT TESTED: this system does not show zombies in /proc")
		return
	}
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.False(t, ended(t, cmd.Process.Pid), "it waits for its input")
	require.NoError(t, in.Close())
	require.Eventually(t, func() bool { return ended(t, cmd.Process.Pid) }, 30*time.Second, time.Millisecond)
	require.NoError(t, syscall.Kill(cmd.Process.Pid, 0), "nobody has reaped it")
	require.NoError(t, cmd.Wait())
	require.True(t, ended(t, cmd.Process.Pid))
}
