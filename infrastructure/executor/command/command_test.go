package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

func me(t *testing.T) string {
	t.Helper()
	own, err := user.Current()
	require.NoError(t, err)
	return own.Username
}

func TestACommandEndsAsItsExitCodeSays(t *testing.T) {
	for name, c := range map[string]struct {
		data    string
		status  entity.Status
		reason  entity.Reason
		message string
		result  string
	}{
		"zero": {`{"command":["echo","a  b"]}`, entity.StatusSuccess, "", "", "a  b"},
		"another code": {
			`{"script":"echo out; echo why >&2; exit 3","interpreter":"sh"}`, entity.StatusFailed,
			entity.ReasonExitCode, "ended with exit code 3: why", "out",
		},
		"a code of success": {
			`{"script":"exit 3","interpreter":"sh","successExitCodes":[3,4]}`, entity.StatusSuccess, "", "",
			"",
		},
		"zero is none then": {
			`{"command":["true"],"successExitCodes":[3]}`, entity.StatusFailed, entity.ReasonExitCode,
			"ended with exit code 0", "",
		},
		"a signal": {
			`{"script":"kill -SEGV $$","interpreter":"sh"}`, entity.StatusFailed, entity.ReasonError,
			"ended by signal segmentation fault", "",
		},
		"no shell reads it": {
			`{"command":["echo","$(id)","` + "`id`" + `","|","&&","a\nb"]}`, entity.StatusSuccess, "", "",
			"$(id) `id` | && a\nb",
		},
		"no program": {
			`{"command":["no-such-program"]}`, entity.StatusFailed, entity.ReasonInvalid,
			"the program no-such-program is not installed on this node, or is not executable", "",
		},
		"no interpreter": {
			`{"script":"x","interpreter":"missing-interpreter"}`, entity.StatusFailed, entity.ReasonInvalid,
			"the program missing-interpreter is not installed on this node, or is not executable", "",
		},
		"not executable": {
			`{"command":["/etc/passwd"]}`, entity.StatusFailed, entity.ReasonInvalid,
			"the program /etc/passwd is not installed on this node, or is not executable", "",
		},
		"no such folder": {
			`{"command":["true"],"workingDir":"/no/such/folder"}`, entity.StatusFailed, entity.ReasonInvalid,
			"jobData.workingDir: there is no folder /no/such/folder on this node, or " + me(t) + " may not enter it", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			got := b.run(t.Context(), c.data)
			require.Equal(t, []any{c.status, c.reason, c.message, c.result},
				[]any{got.Status, got.Reason, got.Message, got.Result})
		})
	}
}

// The line that names the error is the message of the run, not what a library says behind it.
func TestAFailedCommandSaysTheLineThatNamesTheError(t *testing.T) {
	b := newBench(t)
	b.starter.exit = &command.Exit{Code: 2}
	got := b.run(t.Context(), `{"script":"printf 'Traceback (most recent call last):\\n  File \"a.py\", line 3\\n'`+
		`'sqlalchemy.exc.OperationalError: no server\\n(Background on this error at: https://sqlalche.me/e/20)\\n' >&2",`+
		`"interpreter":"sh"}`)
	require.Equal(t, "ended with exit code 2: sqlalchemy.exc.OperationalError: no server", got.Message)
}

// The author of a limit learns that it was the limit, and what was used.
func TestAnEndByALimitNamesTheLimit(t *testing.T) {
	const data = `{"script":"echo %s >&2","interpreter":"sh","cpuSec":10,"memoryMb":64,"fileMb":5}`
	for name, c := range map[string]struct {
		exit    command.Exit
		said    string
		reason  entity.Reason
		message string
	}{
		"the soft limit": {
			command.Exit{Signal: syscall.SIGXCPU, CPU: 10040 * time.Millisecond},
			"x", entity.ReasonError,
			"ended by signal CPU time limit exceeded: it used up its limit of 10 s of processor time for a process " +
				"(jobData.cpuSec; 10.0 s were used in all): x",
		},
		"the hard limit": {
			command.Exit{Signal: syscall.SIGKILL, CPU: 11 * time.Second},
			"x", entity.ReasonError,
			"ended by signal killed: it used up its limit of 10 s of processor time for a process (jobData.cpuSec; 11.0 s " +
				"were used in all): x",
		},
		"a child's": {
			command.Exit{Code: 152, CPU: 12300 * time.Millisecond},
			"x", entity.ReasonError,
			"ended with exit code 152: it used up its limit of 10 s of processor time for a process (jobData.cpuSec; 12.3 s " +
				"were used in all): x",
		},
		"another kill": {
			command.Exit{Signal: syscall.SIGKILL, CPU: time.Second},
			"x", entity.ReasonError,
			"ended by signal killed: x",
		},
		"the group's memory": {
			command.Exit{Signal: syscall.SIGKILL, OutOfMemory: true, Memory: 64 << 20},
			"x", entity.ReasonError,
			"it needed more memory than its limit of 64 MiB (jobData.memoryMb; at most 64 MiB were in use): x",
		},
		"the address space": {
			command.Exit{Code: 1, Memory: 50 << 20},
			"MemoryError", entity.ReasonError,
			"ended with exit code 1: it got no more memory; its limit is 64 MiB (jobData.memoryMb; at most 50 MiB were in " +
				"use): MemoryError",
		},
		"a file": {
			command.Exit{Signal: syscall.SIGXFSZ},
			"x", entity.ReasonError,
			"ended by signal file size limit exceeded: it wrote a file over its limit of 5 MiB (jobData.fileMb): x",
		},
		"an ordinary end": {command.Exit{Code: 1, CPU: time.Hour}, "x", entity.ReasonExitCode, "ended with exit code 1: x"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.starter.exit = &c.exit
			got := b.run(t.Context(), fmt.Sprintf(data, c.said))
			require.Equal(t, []any{entity.StatusFailed, c.reason, c.message}, []any{got.Status, got.Reason, got.Message})
		})
	}
	b := newBench(t)
	b.starter.exit = &command.Exit{Code: 1}
	got := b.run(t.Context(), `{"script":"echo MemoryError >&2","interpreter":"sh"}`)
	require.Equal(t, "ended with exit code 1: MemoryError", got.Message, "there is no limit to name")
}

// The end of a command tells its usage, whatever the end is; of a command that was lost nothing is known.
func TestAnEndTellsWhatTheCommandTook(t *testing.T) {
	took := command.Exit{CPU: 1200 * time.Millisecond, Memory: 35<<20 + 700}
	for name, script := range map[string]string{
		"success": "exit 0", "failure": "exit 3", "a result": `echo 'result {}' >> "$SCHEDULER_REPORT"`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.starter.exit = &took
			got := b.run(t.Context(), fmt.Sprintf(`{"script":%q,"interpreter":"sh"}`, script))
			require.Equal(t, entity.Usage{CPUMs: 1200, PeakKb: 35 << 10}, got.Usage)
		})
	}
	b := newBench(t)
	b.starter.lose = true
	require.Zero(t, b.run(t.Context(), `{"command":["true"]}`).Usage)
	require.Zero(t, entity.UsageOf(-time.Second, -1), "a store takes every usage")
}

// A process finds a plain environment and who it is, and nothing of the
// server's own, which may hold its secrets.
func TestAProcessFindsWhoItIsAndNothingOfTheServer(t *testing.T) {
	t.Setenv("PS_AUTH_INITIALADMINPASSWORD", "canary-7f3a")
	b := newBench(t)
	got := b.run(t.Context(), `{"command":["env"],"env":{"GREETING":"hello","PATH":"/opt/bin:/usr/bin:/bin"}}`)
	require.Equal(t, entity.StatusSuccess, got.Status)
	require.NotContains(t, got.Result, "canary-7f3a")
	env := map[string]string{}
	for line := range strings.Lines(got.Result) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	for name, want := range map[string]string{
		"GREETING": "hello", "PATH": "/opt/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
		"SCHEDULER_EXECUTION_ID": "exec-1", "SCHEDULER_JOB_ID": "job-1", "SCHEDULER_JOB_NAME": "nightly",
		"SCHEDULER_SCHEDULED_TIME": "2026-11-20T12:00:00.000Z", "SCHEDULER_ATTEMPT": "2", "SCHEDULER_SHARD_INDEX": "1",
		"SCHEDULER_SHARD_TOTAL": "3", "SCHEDULER_FENCING_TOKEN": "5", "SCHEDULER_IDEMPOTENCY_KEY": "exec-1",
		"SCHEDULER_PARAMS": `{"day":1}`, "SCHEDULER_CHECKPOINT": "row 7", "SCHEDULER_TIMEOUT_SEC": "7",
		"SCHEDULER_DEADLINE": "", "SCHEDULER_TRACEPARENT": env["TRACEPARENT"],
	} {
		require.Equal(t, want, env[name], name)
	}
	require.True(t, strings.HasPrefix(env["HOME"], b.folder))
	require.Equal(t, env["HOME"], env["TMPDIR"])
	require.Equal(t, strings.TrimSuffix(env["HOME"], "home")+"report", env["SCHEDULER_REPORT"])
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, env["TRACEPARENT"])
}

// Each attempt has a folder of its own, which nobody else can read and which
// goes with it.
func TestEachAttemptHasAFolderThatGoesWithIt(t *testing.T) {
	b := newBench(t)
	first := b.run(t.Context(), `{"script":"pwd; stat -c %a .; echo x > left; ls","interpreter":"sh"}`)
	require.Equal(t, entity.StatusSuccess, first.Status, first.Message)
	require.Equal(t, []string{"700", "left"}, strings.Fields(first.Result)[1:])
	entries, err := os.ReadDir(b.folder)
	require.NoError(t, err)
	require.Empty(t, entries)
	elsewhere := t.TempDir()
	second := b.run(t.Context(), fmt.Sprintf(`{"command":["pwd"],"workingDir":%q}`, elsewhere))
	require.Equal(t, elsewhere, second.Result)
	require.DirExists(t, elsewhere, "a folder of the user's own stays")
}

func TestOutputIsReadInOrderAndByStream(t *testing.T) {
	b := newBench(t)
	b.run(t.Context(), `{"script":"echo one; printf 'two\\r\\n'; printf three","interpreter":"sh"}`)
	require.Equal(t, []executortest.Line{
		{Type: entity.LogStdout, Text: "one"}, {Type: entity.LogStdout, Text: "two"}, {Type: entity.LogStdout, Text: "three"},
	}, b.rep.Lines())
	b = newBench(t)
	b.run(t.Context(), `{"script":"echo oops >&2","interpreter":"sh"}`)
	require.Equal(t, []executortest.Line{{Type: entity.LogStderr, Text: "oops"}}, b.rep.Lines())
}

// A line without an end, and an output without an end, need no memory.
func TestLongLinesAreCutAndTheTailIsKept(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(), `{"script":"head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after","interpreter":"sh"}`)
	require.Equal(t, entity.StatusSuccess, got.Status)
	lines := b.rep.Lines()
	require.Len(t, lines, 2)
	require.Len(t, lines[0].Text, 8<<10)
	require.Equal(t, "after", lines[1].Text)
	require.LessOrEqual(t, len(got.Result), 4<<10)
	require.True(t, strings.HasSuffix(got.Result, "after"))
}

// Output without lines is no text: the log says so, and the end is known.
func TestALineWithoutEndEndsTheLog(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(), `{"script":"head -c 20000000 /dev/zero | tr '\\0' x; echo; echo after","interpreter":"sh"}`)
	require.Equal(t, entity.StatusSuccess, got.Status)
	require.True(t, strings.HasSuffix(got.Result, "xx\nafter"), "%q", got.Result)
	lines := b.rep.Lines()
	require.Len(t, lines, 2)
	require.Len(t, lines[0].Text, 8<<10)
	require.Equal(t, executortest.Line{
		Type: entity.LogSystem,
		Text: "… the stdout was cut here: it holds a line of more than 16 MiB …",
	}, lines[1])
}

// Output that no log keeps is not cut into lines; the end is known all the same.
func TestBehindTheLimitOfTheLogOnlyTheEndIsKept(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(),
		`{"script":"yes 0123456789 | head -c 5000000; echo; yes 0123456789 | head -c 5000000 >&2; echo >&2; echo 'why  ' >&2; echo; echo the end; exit 3","interpreter":"sh"}`)
	require.Equal(t, "ended with exit code 3: why", got.Message)
	require.True(t, strings.HasSuffix(got.Result, "\n\nthe end"), "%q", got.Result)
	passed := map[entity.LogType]int{}
	for _, line := range b.rep.Lines() {
		passed[line.Type] += len(line.Text) + 1
	}
	for _, kind := range []entity.LogType{entity.LogStdout, entity.LogStderr} {
		require.Greater(t, passed[kind], entity.LogLimit, "whoever keeps the log sees that there is more")
		require.Less(t, passed[kind], entity.LogLimit+100)
	}
}

// stopAfterStart cancels a run once it has said something.
func stopAfterStart(t *testing.T, b *bench, data string, cause error) entity.Outcome {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan entity.Outcome, 1)
	go func() { done <- b.run(ctx, data) }()
	require.Eventually(t, func() bool { return len(b.rep.Lines()) > 0 }, 20*time.Second, time.Millisecond)
	cancel(cause)
	return <-done
}

// Another node may begin the run anew in a moment: there is no time for a TERM.
func TestALostCommandIsKilledAtOnce(t *testing.T) {
	b := newBench(t)
	got := stopAfterStart(t, b,
		`{"script":"trap 'echo termed' TERM; echo up; while true; do sleep 0.05; done","interpreter":"sh"}`, entity.ErrStopLost)
	require.Equal(t, entity.StatusFailed, got.Status)
	require.NotContains(t, fmt.Sprint(b.rep.Lines()), "termed")
}

func TestACommandWithoutTheRightToActDoesNotStart(t *testing.T) {
	b := newBench(t)
	got := b.run(entity.WithRight(t.Context(), func() bool { return false }), `{"script":"echo up","interpreter":"sh"}`)
	require.Equal(t, entity.ReasonNodeLost, got.Reason)
	require.Empty(t, b.rep.Lines())
}

// What a process says after it was told to stop does not count: the cause does.
func TestAStoppedCommandIsTermedAndThenKilled(t *testing.T) {
	for name, script := range map[string]string{
		"it obeys":               "echo up; sleep 60",
		"it ends well":           "trap 'exit 0' TERM; echo up; while true; do sleep 0.05; done",
		"it ends with a code":    "trap 'exit 9' TERM; echo up; while true; do sleep 0.05; done",
		"it ignores TERM":        "trap '' TERM; echo up; while true; do sleep 0.05; done",
		"a child holds the pipe": "trap '' TERM; sleep 60 & echo up; wait",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			got := stopAfterStart(t, b, fmt.Sprintf(`{"script":%q,"interpreter":"sh"}`, script), entity.ErrStopCancel)
			require.Equal(t, []any{entity.StatusFailed, entity.ReasonError}, []any{got.Status, got.Reason},
				"the cause of the stop decides")
			entries, err := os.ReadDir(b.folder)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

func TestTroubleWithTheHelperIsTold(t *testing.T) {
	b := newBench(t)
	b.starter.lose = true
	got := b.run(t.Context(), `{"command":["true"]}`)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonNodeLost}, []any{got.Status, got.Reason})
	b.starter.fail = errors.New("no more processes")
	got = b.run(t.Context(), `{"command":["true"]}`)
	require.Equal(t, []any{entity.ReasonError, "start true: no more processes"}, []any{got.Reason, got.Message})
}

// The order holds what the helper needs, and marks the attempt.
func TestAnOrderNamesItsAttempt(t *testing.T) {
	b := newBench(t)
	b.run(t.Context(), `{"command":["true","x"],"cpuSec":60,"memoryMb":256,"openFiles":64,"processes":32}`)
	order := b.starter.orders[0]
	require.Equal(t, "exec-1:2:5", order.ID)
	require.Equal(t, []string{"true", "x"}, order.Argv)
	require.True(t, strings.HasPrefix(order.Path, "/"))
	require.Equal(t, command.Limits{CPUSec: 60, MemoryMb: 256, OpenFiles: 64, Processes: 32}, order.Limits)
}

// A value is never more than one argument, and never code.
func TestPlaceholdersStandInArgumentsAndVariablesOnly(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(),
		`{"command":["sh","-c","printf '%s|' \"$0\" \"$@\" \"$A\"","${params.day}","$(id)"],"env":{"A":"${scheduledTime-1d:yyyyMMdd} ${secret.KEY}"}}`)
	require.Equal(t, entity.StatusSuccess, got.Status, got.Message)
	require.Equal(t, "1|$(id)|20261119 s3 cret|", got.Result)

	got = b.run(t.Context(), `{"script":"day=7; echo ${day}","interpreter":"sh"}`)
	require.Equal(t, "7", got.Result, "a script's own variables are left alone")

	got = b.run(t.Context(), `{"command":["echo","${params.none}"]}`)
	require.Equal(t, entity.ReasonInvalid, got.Reason)
	require.Contains(t, got.Message, "jobData.command[1]: the run was not given the parameter none")
	faults := b.Check(&entity.Job{
		Data: `{"command":["echo","${HOME}"],"env":{"A":"${x}"},"workingDir":"/srv/${params.day}"}`,
	})
	require.Len(t, faults, 2)
	require.Equal(t, "jobData.command[1]", faults[0].Field)
	require.Equal(t, "jobData.env.A", faults[1].Field)
}
