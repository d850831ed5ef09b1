//go:build linux

// Package examples_test runs the programs of examples by the commands of their pages, beside a real server.
package examples_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// terminated is how a Java machine ends at SIGTERM, whatever its program did.
const terminated = 128 + 15

// grace is what a program leaves to its runs, in seconds.
const grace = "GRACE_SECONDS=1"

func TestEachExampleRunsAndLosesNoRun(t *testing.T) {
	s := newStage(t)
	for _, example := range []struct {
		name  string
		tools []string
		code  int
	}{
		{name: "go", tools: []string{"go"}},
		{name: "python", tools: []string{"python3"}},
		{name: "spring-boot-2.7", tools: []string{"java", "mvn"}, code: terminated},
		{name: "spring-boot-3.x", tools: []string{"java", "mvn"}, code: terminated},
		{name: "spring-boot-4.x", tools: []string{"java", "mvn"}, code: terminated},
	} {
		t.Run(example.name, func(t *testing.T) {
			commands := s.commands(t, "examples/"+example.name+"/README.md", "")
			last := len(commands) - 1
			require.LessOrEqual(t, last, 2, "three commands run it")
			if why := s.build(t, example.tools, commands[:last]); why != "" {
				prooftest.Missing(t, why)
				return
			}
			first := s.launch(t, commands[last], grace)
			s.eachHandler(t)
			runs := s.load(t)
			require.Equal(t, example.code, first.terminate(t), first.said)
			s.givenBack(t, runs)
			second := s.launch(t, commands[last], grace)
			s.finished(t, runs)
			require.Equal(t, example.code, second.terminate(t), second.said)
			s.nothingElse(t)
		})
	}
}

// unserved is how pip and Maven say that a package is not to be had here.
var unserved = regexp.MustCompile(`(?m)^.*(Non-resolvable|Could not (resolve|find|transfer)|No matching distribution|` +
	`cannot be resolved).*$`)

// build carries out the commands before the last one. It returns what is not to be had on this machine.
func (s *stage) build(t *testing.T, tools, commands []string) (missing string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return tool + " is not here"
		}
	}
	for _, command := range commands {
		out, err := s.run(t, command)
		if line := unserved.FindString(out); err != nil && line != "" {
			return command + ": " + line
		}
		require.NoError(t, err, "%s: %s", command, out)
	}
	return ""
}

// eachHandler runs each handler once to its end, and cancels two of them.
func (s *stage) eachHandler(t *testing.T) {
	t.Helper()
	long := s.trigger(t, "export orders", map[string]any{"orders": 1000, "pause": 20})
	s.await(t, long, "it tells its progress", func(r run) bool { return r.Status == "RUNNING" && r.Progress > 0 })
	s.cancelled(t, long, "order %d of 1000")
	long = s.trigger(t, "bill accounts", map[string]any{"accounts": 1000, "pause": 20})
	s.begun(t, long)
	s.cancelled(t, long, "account %d of 1000")

	r := s.ended(t, s.trigger(t, "export orders", map[string]any{"orders": 3, "pause": 1}))
	require.Equal(t, run{ID: r.ID, Status: "SUCCESS", Result: "3 orders", Attempt: 1, Progress: 100}, r)
	r = s.ended(t, s.trigger(t, "bill accounts", map[string]any{"accounts": 3, "pause": 1}))
	require.Equal(t, run{ID: r.ID, Status: "SUCCESS", Result: "3 accounts", Attempt: 1, Progress: 100}, r)
	require.Equal(t, counted("account %d of 3", 3), s.lines(t, r.ID))

	r = s.ended(t, s.trigger(t, "send mail", map[string]any{"to": "me@example.com"}))
	require.Equal(t, run{
		ID: r.ID, Status: "SUCCESS", Result: "sent to me@example.com", Attempt: 2, RetryCount: 1, Progress: 100,
	}, r)
	attempts := s.attempts(t, r.ID)
	require.Len(t, attempts, 2)
	require.Equal(t, []string{"FAILED", "ERROR"}, []string{attempts[0].Status, attempts[0].Reason})
	require.Contains(t, attempts[0].ErrorMessage, "the mail server is busy")
	r = s.ended(t, s.trigger(t, "send mail", map[string]any{"to": ""}))
	require.Equal(t, []any{"FAILED", 1}, []any{r.Status, r.Attempt}, "it is not tried again")
}

// begun waits for the first line of a run.
func (s *stage) begun(t *testing.T, id string) {
	t.Helper()
	s.await(t, id, "it has begun", func(run) bool { return len(s.lines(t, id)) > 0 })
}

// cancelled cancels a run, which ends between two of its steps.
func (s *stage) cancelled(t *testing.T, id, line string) {
	t.Helper()
	s.call(t, http.MethodPost, "/executions/"+id+"/cancel", nil, nil)
	require.Equal(t, "CANCELLED", s.ended(t, id).Status)
	lines := s.lines(t, id)
	require.NotEmpty(t, lines)
	require.Less(t, len(lines), 1000)
	require.Equal(t, counted(line, len(lines)), lines)
}

// counted are lines with the numbers from 1.
func counted(line string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(line, i+1)
	}
	return lines
}

// accounts of a run that is long: fifteen seconds.
const accounts = 150

// runs are those of the load: long ones are under way, short ones are under way or wait, in the order of triggering.
type runs struct{ long, short, exports, mails []string }

// load takes all slots of the program, and lets others wait for them.
func (s *stage) load(t *testing.T) (r runs) {
	t.Helper()
	for range 2 {
		r.long = append(r.long, s.trigger(t, "bill accounts", map[string]any{"accounts": accounts, "pause": 100}))
		r.short = append(r.short, s.trigger(t, "bill accounts", map[string]any{"accounts": 10, "pause": 100}))
	}
	for _, id := range slices.Concat(r.long, r.short) {
		s.begun(t, id)
	}
	for range 8 {
		r.short = append(r.short, s.trigger(t, "bill accounts", map[string]any{"accounts": 10, "pause": 100}))
		r.exports = append(r.exports, s.trigger(t, "export orders", map[string]any{"orders": 5, "pause": 20}))
		r.mails = append(r.mails, s.trigger(t, "send mail", nil))
	}
	return r
}

// givenBack says that the program, which has ended, left no run behind: each has ended well, or waits.
func (s *stage) givenBack(t *testing.T, r runs) {
	t.Helper()
	waiting := 0
	for _, id := range slices.Concat(r.long, r.short, r.exports, r.mails) {
		is := s.look(t, id)
		require.Contains(t, []string{"SUCCESS", "WAITING"}, is.Status, "%+v", is)
		if is.Status == "WAITING" {
			waiting++
		}
	}
	for _, id := range r.long {
		require.Equal(t, "WAITING", s.look(t, id).Status, "a long run is given back")
	}
	require.Greater(t, waiting, len(r.long), "others were waiting for a slot")
}

// finished says that each run of the load has succeeded, and how: no attempt was lost, and no account billed twice.
func (s *stage) finished(t *testing.T, r runs) {
	t.Helper()
	good := func(id, result string, attempts int) {
		t.Helper()
		is := s.ended(t, id)
		require.Equal(t, []any{"SUCCESS", result, attempts}, []any{is.Status, is.Result, is.Attempt}, "%+v", is)
		for _, a := range s.attempts(t, id) {
			require.NotEqual(t, "NODE_LOST", a.Reason, "%+v", a)
		}
	}
	for _, id := range r.long {
		good(id, fmt.Sprintf("%d accounts", accounts), 2)
		former := s.attempts(t, id)[0]
		require.Equal(t, []any{"FAILED", "SHUTDOWN", 0}, []any{former.Status, former.Reason, s.look(t, id).RetryCount},
			"it was given back, which uses no retry")
		require.Equal(t, counted(fmt.Sprintf("account %%d of %d", accounts), accounts), s.lines(t, id))
	}
	for _, id := range r.short {
		good(id, "10 accounts", 1)
		require.Equal(t, counted("account %d of 10", 10), s.lines(t, id))
	}
	for _, id := range r.exports {
		good(id, "5 orders", 1)
	}
	for _, id := range r.mails {
		good(id, "sent to you@example.com", 2)
	}
}

// nothingElse says that there are the runs that were asked for, and no others.
func (s *stage) nothingElse(t *testing.T) {
	t.Helper()
	all, err := client.List[run](t.Context(), s.api, "/executions", nil, 0)
	require.NoError(t, err)
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	require.ElementsMatch(t, s.triggered, ids)
}
