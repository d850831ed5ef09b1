package command_test

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
)

// direct starts processes itself, in groups of their own; it notes what it was
// asked for.
type direct struct {
	mu     sync.Mutex
	orders []command.Order
	fail   error
	lose   bool
	// exit stands for how processes end when it is not nil.
	exit *command.Exit
}

func (d *direct) Start(_ context.Context, o command.Order) (command.Process, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orders = append(d.orders, o)
	defer o.Stdout.Close()
	defer o.Stderr.Close()
	if d.fail != nil {
		return nil, d.fail
	}
	cmd := &exec.Cmd{
		Path: o.Path, Args: o.Argv, Env: o.Env, Dir: o.Dir, Stdout: o.Stdout, Stderr: o.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if o.Account.Change {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.Account.UID, Gid: o.Account.GID}
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, command.ErrFolder
	}
	if err := cmd.Start(); err != nil {
		return nil, command.ErrProgram
	}
	return &child{cmd: cmd, lose: d.lose, exit: d.exit}, nil
}

type child struct {
	cmd  *exec.Cmd
	lose bool
	exit *command.Exit
}

func (c *child) Stop(s syscall.Signal) error { return syscall.Kill(-c.cmd.Process.Pid, s) }

func (c *child) Wait() (command.Exit, error) {
	_ = c.cmd.Wait()
	if c.lose {
		return command.Exit{}, command.ErrHelperLost
	}
	if c.exit != nil {
		return *c.exit, nil
	}
	status := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return command.Exit{Signal: status.Signal()}, nil
	}
	return command.Exit{Code: status.ExitStatus()}, nil
}

// bench is an executor with what it works on.
type bench struct {
	*command.Executor
	starter *direct
	folders *workfolder.Area
	folder  string
	rep     *executortest.Recorder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	own, err := user.Current()
	require.NoError(t, err)
	return newBenchAs(t, t.TempDir(), command.Account{Name: own.Username})
}

// newBenchAs is a bench whose commands run as an account, in folders below base.
func newBenchAs(t *testing.T, base string, account command.Account) *bench {
	t.Helper()
	folders, err := workfolder.Open(base, "", account.Owner())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folders.Close()) })
	b := &bench{starter: &direct{}, folders: folders, folder: folders.Path(), rep: &executortest.Recorder{}}
	b.Executor = command.New(clock.NewSystem(), b.starter, command.Settings{
		Interpreters: []string{"sh", "missing-interpreter"}, Account: account, Folders: folders,
		Grace: 200 * time.Millisecond,
	})
	return b
}

// home is the home of the only run.
func (b *bench) home(t *testing.T) string {
	t.Helper()
	homes, err := filepath.Glob(b.folder + "/*/home")
	require.NoError(t, err)
	require.Len(t, homes, 1)
	return homes[0]
}

// run runs one attempt of a definition.
func (b *bench) run(ctx context.Context, data string) entity.Outcome {
	return b.runAs(ctx, "exec-1", data)
}

func (b *bench) runAs(ctx context.Context, id, data string) entity.Outcome {
	return b.Run(ctx, entity.Run{
		Secrets: map[string]string{"KEY": "s3 cret"},
		Job:     &entity.Job{ID: "job-1", Name: "nightly", Type: entity.JobCommand, Data: data, TimeoutSec: 7},
		Execution: &entity.Execution{
			ID: id, JobID: "job-1", Attempt: 2, Token: 5, ShardIndex: 1, ShardTotal: 3, Params: `{"day":1}`, Checkpoint: "row 7",
			ScheduledTime: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		},
	}, b.rep)
}
