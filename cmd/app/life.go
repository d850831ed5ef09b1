package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// Lost delivers why the program must stop: another process took this node's id over,
// or a run does not stop although it must.
func (e *Engine) Lost() <-chan error { return e.lost }

// Start begins to fire and to run. It returns at once.
func (e *Engine) Start() {
	planCtx, stopPlan := context.WithCancel(context.Background())
	runCtx, stopRun := context.WithCancel(context.Background())
	e.stopPlan, e.stopRun = stopPlan, stopRun
	members, stopMembers := context.WithCancel(context.Background())
	e.stopMembers = stopMembers
	// The first beat begins the lease, and the first look assigns the partitions. If
	// they fail, the next ones try again.
	first, cancel := context.WithTimeout(runCtx, firstLook)
	defer cancel()
	if err := e.Member.RunOnce(first); err != nil {
		e.logger.Error("the node could not write its first beat or read the registry; it tries again", "error", err)
	}
	e.members.Go(func() { e.Member.Run(members) })
	e.loops.Go(func() { _ = e.Runner.Run(runCtx) })
	e.loops.Go(func() { e.Gateway.Run(runCtx) })
	if e.cluster != nil {
		e.loops.Go(func() { _ = e.cluster.notifier.Run(runCtx, listener{e.parts}) })
	}
	e.loops.Go(func() { e.events.rules.Run(runCtx) })
	if e.events.relay != nil {
		e.loops.Go(func() { e.gate.While(runCtx, e.events.relay.Run) })
	}
	e.loops.Go(func() { e.gate.While(runCtx, e.follower.Run) })
	e.loops.Go(func() { e.gate.While(runCtx, e.workflows.Run) })
	e.exports.start(runCtx, &e.loops, e.gate, e.sending.notifier.Wake)
	e.loops.Go(func() { e.gate.While(runCtx, e.sending.notifier.Run) })
	if e.check != nil {
		e.loops.Go(func() { e.check.Run(runCtx) })
	}
	e.campaign()
	if _, on := e.isolation(); on {
		review := definition.NewDefinitionReview(e.Store.Jobs, e.options.Executor, e.machine, e.logger)
		e.loops.Go(func() { review.Run(runCtx) })
	}
	e.planning.Go(func() { _ = e.Planner.Run(planCtx) })
	e.ticker.Start()
}

// isolation returns what isolates the commands of this node, if it runs any.
func (b base) isolation() (i metrics.Isolation, ok bool) {
	if b.options.Processes == nil {
		return i, false
	}
	return b.options.Processes.Isolation()
}

// showIsolation logs what isolates the commands of this node, and reports that nothing bounds
// their processes.
func (b base) showIsolation() (unbound bool) {
	i, ok := b.isolation()
	if !ok {
		return false
	}
	b.Metrics.Commands(i)
	b.logger.Info("commands are on", "user", i.User, "endedBy", i.Ending, "memoryBoundBy", i.Memory, "processesBoundBy",
		i.Processes)
	if unbound = i.Processes == metrics.Unbounded; unbound {
		b.logger.Warn(unbounded)
	}
	return unbound
}

// unbounded says what is wrong, and the remedy.
const unbounded = "nothing bounds the processes of a command: one fork bomb takes all process numbers of the " +
	"machine. Name a user other than root in executor.command.user, or delegate the controller pids to the server " +
	"(docs/executors.md)"

// exposureTrouble reports that commands may take all processes of the machine.
func (n self) exposureTrouble() (reason string, blocks bool) {
	if n.unbounded {
		return unbounded, false
	}
	return "", false
}

// firstLook bounds how long a start waits for the registry.
const firstLook = 5 * time.Second

// storeBound is how long a stop waits for the store to take the last results.
const storeBound = 10 * time.Second

// Stop ends the node (engine rule 28). It stops firing and claiming, and lets runs
// finish for the configured grace. Then it asks them to stop, stores their results and
// leaves the registry. When ctx ends first, Stop gives up; the next start recovers the
// rest.
func (e *Engine) Stop(ctx context.Context) error {
	stopped := e.StopLoops(ctx, func() error { return nil })
	return errors.Join(stopped, e.close())
}

// StopLoops makes the node unready and ends the loops, for a server that then calls
// Close. It calls closeEdge when no run is left.
func (e *Engine) StopLoops(ctx context.Context, closeEdge func() error) error {
	now := e.machine.Now()
	e.stopped.Store(&now)
	// The tasks of each node go on while runs end: the node still beats, and still
	// sees requests to stop runs.
	e.stepDown(ctx)
	e.resign()
	e.stopPlan()
	e.planning.Wait()
	e.Gateway.Leave()
	grace := time.Duration(e.cfg.Server.ShutdownGraceSec) * time.Second
	bounded, cancel := context.WithTimeout(ctx, grace)
	e.Drafts.Stop(bounded)
	cancel()
	e.Runner.Drain(ctx, grace)
	errs := []error{e.ticker.Stop(), closeEdge()}
	e.flushMetrics(ctx)
	e.Gateway.Close()
	e.stopRun()
	done := make(chan struct{})
	go func() {
		e.loops.Wait()
		close(done)
	}()
	return errors.Join(append(errs, e.awaitResults(ctx, done))...)
}

// stepDown hands the partitions over. A store that is away does not delay the stop:
// other nodes take the partitions over when the lease ends.
func (e *Engine) stepDown(ctx context.Context) {
	if err := e.withShutdownTimeout(ctx, e.Member.StepDown); err != nil {
		e.logger.Warn("the node could not hand its partitions over", "error", err)
	}
}

// withShutdownTimeout calls the registry during a stop, even when ctx has ended.
func (e *Engine) withShutdownTimeout(ctx context.Context, call func(ctx context.Context) error) error {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return call(short)
}

// shutdownTimeout bounds each call to the registry during a stop.
const shutdownTimeout = 2 * time.Second

// awaitResults waits until the store has taken the last results, while the member
// still beats. Then it leaves the registry.
func (e *Engine) awaitResults(ctx context.Context, done <-chan struct{}) error {
	defer func() {
		e.stopMembers()
		e.members.Wait()
	}()
	bound := e.machine.NewTimer(storeBound)
	defer bound.Stop()
	select {
	case <-done:
		e.stopMembers()
		e.members.Wait()
		return e.withShutdownTimeout(ctx, e.Member.Leave)
	case <-ctx.Done():
		return fmt.Errorf("stopped before every run had ended: %w", ctx.Err())
	case <-bound.C():
		return errors.New("stopped before the store had taken every result")
	}
}

// Close releases what NewEngine opened, for an engine whose loops do not run.
func (e *Engine) Close() error { return e.close() }
