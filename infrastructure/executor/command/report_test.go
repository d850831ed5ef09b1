package command_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// A command reports in the file that its environment names.
func TestACommandReportsInItsFile(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(),
		`{"interpreter":"sh","script":"echo out; echo progress 40 >>$SCHEDULER_REPORT; echo checkpoint row 8 >>$SCHEDULER_REPORT; echo 'result {\"rows\":8}' >>$SCHEDULER_REPORT"}`)
	require.Equal(t, []any{entity.StatusSuccess, `{"rows":8}`}, []any{got.Status, got.Result})
	require.Nil(t, got.ExitCode, "what the run says itself is all of its output")
	progress, checkpoint := b.rep.Last()
	require.Equal(t, []any{40, "row 8"}, []any{progress, checkpoint})
	require.Len(t, b.rep.Lines(), 1, "a report is no output")
}

// The reports of a failed or stopped run count, too: the next attempt goes on
// from its checkpoint.
func TestAFailedCommandKeepsItsReports(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(),
		`{"interpreter":"sh","script":"echo checkpoint a >>$SCHEDULER_REPORT; echo result 1 >>$SCHEDULER_REPORT; exit 9"}`)
	require.Equal(t, []any{entity.ReasonExitCode, "1"}, []any{got.Reason, got.Result})
	_, checkpoint := b.rep.Last()
	require.Equal(t, "a", checkpoint)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- b.run(ctx, `{"interpreter":"sh","script":"trap 'echo checkpoint b >>$SCHEDULER_REPORT; exit 0' TERM; echo ready; while :; do sleep 0.01; done"}`)
	}()
	b.said(t, "ready")
	cancel()
	require.Equal(t, entity.StatusFailed, (<-ended).Status)
	_, checkpoint = b.rep.Last()
	require.Equal(t, "b", checkpoint)
}

// Reports are seen while the command runs.
func TestReportsAreSeenMeanwhile(t *testing.T) {
	b, now := sized(t)
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- b.run(t.Context(),
			`{"interpreter":"sh","script":"mkfifo fifo; echo progress 30 >>$SCHEDULER_REPORT; echo reported; read x <fifo"}`)
	}()
	b.said(t, "reported")
	require.Eventually(t, func() bool {
		now.Advance(500 * time.Millisecond)
		progress, _ := b.rep.Last()
		return progress == 30
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(b.home(t), "fifo"), []byte("go on\n"), 0))
	require.Equal(t, entity.StatusSuccess, (<-ended).Status)
}

// The file counts as part of the folder, whose size is bounded.
func TestAReportFileThatFillsTheDiskEndsTheRun(t *testing.T) {
	b, now := sized(t)
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- b.run(t.Context(),
			`{"interpreter":"sh","script":"mkfifo fifo; head -c 2000000 /dev/zero >>$SCHEDULER_REPORT; sync $SCHEDULER_REPORT; echo written; read x <fifo"}`)
	}()
	b.said(t, "written")
	now.Advance(2 * time.Second)
	require.Contains(t, (<-ended).Message, "its working folder grew over 1 MiB")
}

// The user of a run writes its own report, and nobody can move or replace it:
// its folder stays the server's own.
func TestAReportFileCannotBeReplaced(t *testing.T) {
	if !prooftest.Root(t) { // no other server has another user for its commands
		return
	}
	nobody, err := command.FindAccount("nobody", "server")
	require.NoError(t, err)
	base := executortest.Folder(t)
	secret := filepath.Join(base, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("result \"of root\"\n"), 0o600))
	b := newBenchAs(t, base, nobody)
	for _, try := range []string{
		"rm -f $R", "mv $R $HOME/x", "ln -sf " + secret + " $R",
		"ln -s " + secret + " $HOME/l; mv -f $HOME/l $R",
	} {
		got := b.run(t.Context(),
			fmt.Sprintf(`{"interpreter":"sh","script":"R=$SCHEDULER_REPORT; echo result 1 >>$R; (%s) 2>/dev/null && echo done; echo result 2 >>$R; true"}`, try))
		require.Equal(t, []any{entity.StatusSuccess, "2"}, []any{got.Status, got.Result}, "%s: %s", try, got.Message)
	}
	for _, line := range b.rep.Lines() {
		require.NotEqual(t, "done", line.Text)
	}
	left, err := filepath.Glob(filepath.Join(base, "*", "*"))
	require.NoError(t, err)
	require.Empty(t, left, strings.Join(left, " "))
}
