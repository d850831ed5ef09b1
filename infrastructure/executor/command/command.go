package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
)

// Settings say what a node allows and where commands work.
type Settings struct {
	// Interpreters are the names that a definition may give for a script.
	Interpreters []string
	Account      Account
	// Folders holds the working folders of runs.
	Folders *workfolder.Area
	// FolderMb bounds the content of one working folder, in MiB; 0 is no bound.
	FolderMb int
	// Grace is the time between TERM and KILL; the default is 10 s.
	Grace time.Duration
}

// Executor runs commands. It does not bound their number. Safe for concurrent use.
type Executor struct {
	clock    clock.Clock
	starter  Starter
	settings Settings
}

// New returns an executor that starts processes through starter.
func New(c clock.Clock, starter Starter, s Settings) *Executor {
	if s.Grace <= 0 {
		s.Grace = 10 * time.Second
	}
	return &Executor{clock: c, starter: starter, settings: s}
}

// Check implements executor.Executor.
func (e *Executor) Check(job *entity.Job) []apperror.Field {
	_, faults := parse(job.Data, e.settings.Interpreters, placeholder.Samples(job))
	return faults
}

// Run implements executor.Executor. It returns when no process of the run is left.
func (e *Executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	d, faults := parse(run.Job.Data, e.settings.Interpreters, placeholder.Of(run))
	if len(faults) > 0 {
		o := jobdata.Refused(faults, faults[0].Field+": "+faults[0].Message)
		o.NoRetry = true // another attempt would read the same
		return o
	}
	folder, err := e.settings.Folders.Make(fmt.Sprintf("%s-%d", run.Execution.ID, run.Execution.Attempt), d.script)
	if err != nil {
		return entity.Failed(entity.ReasonError, err.Error())
	}
	defer func() {
		if err := folder.Remove(); err != nil {
			rep.Log(entity.LogSystem, "the working folder could not be removed: "+err.Error())
		}
	}()
	order, err := e.order(run, d, folder)
	if err != nil {
		return entity.Failed(entity.ReasonInvalid, err.Error())
	}
	bounded, end := guardSize(ctx, e.clock, folder, int64(e.settings.FolderMb)<<20)
	defer end()
	return e.start(bounded, order, d, newReportFile(folder.ReportFile(), rep))
}

// order makes an Order of a definition. It checks nothing that the user of the run might not
// see. The start finds out, as that user, whether there is a workingDir, and a program that the
// definition names by its path.
func (e *Executor) order(run entity.Run, d definition, folder *workfolder.Folder) (Order, error) {
	x := run.Execution
	o := Order{
		ID: fmt.Sprintf("%s:%d:%d", x.ID, x.Attempt, x.Token), Argv: d.argv, Dir: folder.Home(),
		Env: environment(run, d, folder, e.settings.Account), Account: e.settings.Account, Limits: d.limits,
	}
	if d.workingDir != "" {
		o.Dir = d.workingDir
	}
	if d.script != "" {
		o.Argv = []string{d.interpreter, folder.Script()}
	}
	o.Path = o.Argv[0]
	if strings.Contains(o.Path, "/") {
		return o, nil
	}
	program, err := find(o.Path)
	if err != nil {
		return o, err
	}
	o.Path = program
	return o, nil
}

// find looks for a program in basePath, not in the server's own PATH.
func find(name string) (string, error) {
	candidates := []string{name}
	if !strings.Contains(name, "/") {
		candidates = nil
		for dir := range strings.SplitSeq(basePath, ":") {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	for _, file := range candidates {
		if found, err := exec.LookPath(file); err == nil {
			return found, nil
		}
	}
	return "", missing(name)
}

func missing(program string) error {
	return fmt.Errorf("the program %s is not installed on this node, or is not executable", program)
}

// Installed returns those of the names that can be started on this machine.
func Installed(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := find(name)
		return err != nil
	})
}

// start runs an order to its end, and meanwhile reads what the run reports.
func (e *Executor) start(ctx context.Context, order Order, d definition, report *reportFile) entity.Outcome {
	if !entity.MayAct(ctx) {
		return entity.Failed(entity.ReasonNodeLost, entity.ErrStopLost.Error())
	}
	out, errs, err := e.pipes(&order, d.charset, report.rep)
	if err != nil {
		return entity.Failed(entity.ReasonError, err.Error())
	}
	process, err := e.starter.Start(ctx, order)
	if err != nil {
		_ = out.pipe.Close()
		_ = errs.pipe.Close()
		return notStarted(order, err)
	}
	var readers sync.WaitGroup
	over := make(chan struct{})
	readers.Go(func() { out.read(e.clock, over) })
	readers.Go(func() { errs.read(e.clock, over) })
	readers.Go(func() { watch(e.clock, over, report, out, errs) })
	exit, signalled, err := e.await(ctx, process)
	close(over)
	// No process of the run is left, so nobody else holds the pipes, and the rest in them is
	// read. The deadline keeps a foreign process that got a pipe from delaying this.
	deadline := e.clock.Now().Add(drain)
	_ = out.pipe.SetReadDeadline(deadline)
	_ = errs.pipe.SetReadDeadline(deadline)
	readers.Wait()
	result, given := report.end()
	var big *tooLarge
	o := outcome(exit, signalled, err, d, out, errs)
	switch {
	case signalled && err == nil && errors.As(context.Cause(ctx), &big):
		o = entity.Failed(entity.ReasonError, big.Error())
	case given:
		o.Result, o.ExitCode = result, nil // the run says itself what it returned
	}
	o.Usage = entity.UsageOf(exit.CPU, exit.Memory)
	return o
}

// notStarted returns the outcome of an order without a process.
func notStarted(o Order, err error) entity.Outcome {
	switch {
	case errors.Is(err, ErrFolder):
		return entity.Failed(entity.ReasonInvalid,
			fmt.Sprintf("jobData.workingDir: there is no folder %s on this node, or %s may not enter it", o.Dir, o.Account.Name))
	case errors.Is(err, ErrProgram):
		return entity.Failed(entity.ReasonInvalid, missing(o.Argv[0]).Error())
	}
	return entity.Failed(entity.ReasonError, "start "+o.Argv[0]+": "+err.Error())
}

// drain bounds how long the rest of the pipes is read.
const drain = 5 * time.Second

func (e *Executor) pipes(order *Order, charset string, rep entity.Reporter) (out, errs *stream, err error) {
	outReader, outWriter, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	errReader, errWriter, err := os.Pipe()
	if err != nil {
		_ = outReader.Close()
		_ = outWriter.Close()
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	order.Stdout, order.Stderr = outWriter, errWriter
	return &stream{pipe: outReader, kind: entity.LogStdout, rep: rep, charset: charset}, &stream{
		pipe: errReader, kind: entity.LogStderr, rep: rep, charset: charset,
	}, nil
}

// ended is the result of a wait.
type ended struct {
	exit Exit
	err  error
}

// await waits for the end of the process. When ctx ends first, it sends TERM, and after the
// grace KILL. signalled is true when it sent a signal.
func (e *Executor) await(ctx context.Context, p Process) (exit Exit, signalled bool, err error) {
	done := make(chan ended, 1)
	go func() {
		exit, err := p.Wait()
		done <- ended{exit, err}
	}()
	select {
	case end := <-done:
		return end.exit, false, end.err
	case <-ctx.Done():
	}
	first, grace := syscall.SIGTERM, e.settings.Grace
	if errors.Is(context.Cause(ctx), entity.ErrStopLost) {
		// Another node may start the run again in a moment.
		first, grace = syscall.SIGKILL, 0
	}
	stopped := p.Stop(first)
	timer := e.clock.NewTimer(grace)
	defer timer.Stop()
	select {
	case end := <-done:
		return end.exit, true, end.err
	case <-timer.C():
	}
	stopped = errors.Join(stopped, p.Stop(syscall.SIGKILL))
	end := <-done
	if end.err != nil {
		return end.exit, true, errors.Join(end.err, stopped)
	}
	return end.exit, true, nil
}
