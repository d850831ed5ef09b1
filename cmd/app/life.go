package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

// Lost delivers why the program must stop: another process took this node's id
// over, or work does not end that must.
func (e *Engine) Lost() <-chan error { return e.lost }

// Start begins to fire and to run. It returns at once.
func (e *Engine) Start() {
	planCtx, stopPlan := context.WithCancel(context.Background())
	runCtx, stopRun := context.WithCancel(context.Background())
	e.stopPlan, e.stopRun = stopPlan, stopRun
	members, stopMembers := context.WithCancel(context.Background())
	e.stopMembers = stopMembers
	// The first beat gives the right to work, and the first look says which
	// partitions are this node's; when they fail, the next ones try again.
	first, cancel := context.WithTimeout(runCtx, firstLook)
	defer cancel()
	if err := e.Member.RunOnce(first); err != nil {
		e.logger.Error("the node has not found its place among the others yet", "error", err)
	}
	e.members.Go(func() { e.Member.Run(members) })
	e.loops.Go(func() { _ = e.Runner.Run(runCtx) })
	if e.cluster != nil {
		e.loops.Go(func() { _ = e.cluster.hub.Run(runCtx) })
	}
	e.stand()
	if _, on := e.isolation(); on {
		review := service.NewDefinitionReview(e.Store.Jobs, e.checker, e.machine, e.logger)
		e.loops.Go(func() { review.Run(runCtx) })
	}
	e.planning.Go(func() { _ = e.Planner.Run(planCtx) })
	e.ticker.Start()
}

// isolation is what holds for the commands of this node, if it runs any.
func (e *Engine) isolation() (i metrics.Isolation, ok bool) {
	if e.processes == nil {
		return i, false
	}
	return e.processes.Isolation()
}

// firstLook bounds how long a start waits for the registry.
const firstLook = 5 * time.Second

// storeBound is how long a stop waits for the store to take the last results.
const storeBound = 10 * time.Second

// Stop ends the node (engine rule 28): it stops firing and claiming, lets runs
// finish for the configured grace, then asks them to stop, stores what they
// came to and leaves the registry. When ctx ends first, Stop gives up; what is
// left is recovered at the next start.
func (e *Engine) Stop(ctx context.Context) error {
	e.goingDown()
	stopped := e.stopLoops(ctx, func() error { return nil })
	return errors.Join(stopped, e.close())
}

// goingDown makes the node unready.
func (e *Engine) goingDown() {
	now := e.machine.Now()
	e.stopped.Store(&now)
}

// stopLoops ends the loops; closeEdge runs when nothing runs any more.
func (e *Engine) stopLoops(ctx context.Context, closeEdge func() error) error {
	// The node's own duties go on while runs end: it still beats, and still
	// sees who is to be stopped.
	e.stepDown(ctx)
	e.resign()
	e.stopPlan()
	e.planning.Wait()
	e.Runner.Drain(ctx, time.Duration(e.cfg.Server.ShutdownGraceSec)*time.Second)
	errs := []error{e.ticker.Stop(), closeEdge()}
	e.stopRun()
	done := make(chan struct{})
	go func() {
		e.loops.Wait()
		close(done)
	}()
	return errors.Join(append(errs, e.awaitResults(ctx, done))...)
}

// stepDown gives the partitions away. A store that is away does not hold up
// the stop: the others take them over when the lease ends.
func (e *Engine) stepDown(ctx context.Context) {
	if err := e.lastWord(ctx, e.Member.StepDown); err != nil {
		e.logger.Warn("the partitions could not be handed over", "error", err)
	}
}

// lastWord tells the registry something, also when the stop is in a hurry.
func (e *Engine) lastWord(ctx context.Context, say func(ctx context.Context) error) error {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return say(short)
}

// farewell bounds each of the last words to the registry.
const farewell = 2 * time.Second

// awaitResults waits for the store to take the last results, while the member
// goes on beating, and leaves the registry.
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
		return e.lastWord(ctx, e.Member.Leave)
	case <-ctx.Done():
		return fmt.Errorf("stopped before every run had ended: %w", ctx.Err())
	case <-bound.C():
		return errors.New("stopped before the store had taken every result")
	}
}

// Close gives up what NewEngine opened, for an engine that was never started.
func (e *Engine) Close() error { return e.close() }

func (e *Engine) close() error {
	var errs []error
	if e.processes != nil {
		errs = append(errs, e.processes.Close())
	}
	errs = append(errs, e.cluster.close())
	e.doors.Wait()
	if e.Store != nil {
		errs = append(errs, e.Store.Close())
	}
	if e.folder != nil {
		errs = append(errs, e.folder.Close())
	}
	return errors.Join(errs...)
}
