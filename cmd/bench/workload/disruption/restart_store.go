package disruption

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
)

var (
	errNoCommand  = errors.New("restart-store needs the command that restarts the store: --restart-command")
	errNotStopped = errors.New("the store was never away: the restart command does not restart it")
)

// RestartStore measures restarts of the store.
type RestartStore struct {
	*rig.Bench
	// Rate is the fires a second, Rounds how often the store is restarted.
	Rate, Rounds int
	// Command restarts the store, by /bin/sh.
	Command string
}

// Run has the store restarted in each round.
func (b RestartStore) Run(ctx context.Context) (report.Result, error) {
	if b.Command == "" {
		return report.Result{}, errNoCommand
	}
	return underLoad(ctx, b.Bench, b.Rate, func(ctx context.Context, l *loadedCluster, r *report.Result) error {
		out := &report.Outage{Rounds: b.Rounds}
		var away, first, backlog []float64
		for range b.Rounds {
			o, err := l.outage(ctx, b.Command)
			if err != nil {
				return err
			}
			f, late := o.Recovery(l.ledger.Starts())
			away, first, backlog = append(away, float64(o.Back-o.Gone)/1000), append(first, f), append(backlog, late)
			b.Note("the store was away for %.0f ms; the first fire came %.0f ms after its return, the last late one after "+
				"%.0f ms", away[len(away)-1], f, late)
		}
		out.Away, out.First, out.Backlog = measure.Summarize(away), measure.Summarize(first), measure.Summarize(backlog)
		r.Outage = out
		return nil
	})
}

const (
	// knockEvery is the time between two looks whether the store is there.
	knockEvery = 10 * time.Millisecond
	// restartBound is how long the command and the recovery each may take.
	restartBound = 3 * time.Minute
)

// outage runs the command, and waits until what was missed is made up for.
func (l *loadedCluster) outage(ctx context.Context, restart string) (measure.Outage, error) {
	bounded, cancel := context.WithTimeout(ctx, restartBound)
	defer cancel()
	command := exec.CommandContext(bounded, "/bin/sh", "-c", restart)
	command.Stdout, command.Stderr = l.b.Progress, l.b.Progress
	done := make(chan error, 1)
	go func() { done <- command.Run() }()
	var o measure.Outage
	for running := true; running || o.Gone > 0 && o.Back == 0; {
		if l.answers(bounded) {
			if o.Gone > 0 && o.Back == 0 {
				o.Back = l.Now().UnixMicro()
			}
		} else if o.Gone == 0 {
			o.Gone = l.Now().UnixMicro()
		}
		select {
		case err := <-done:
			if err != nil {
				return o, fmt.Errorf("restart the store: %w", err)
			}
			running = false
		default:
		}
		if err := l.b.Sleep(bounded, knockEvery); err != nil {
			return o, fmt.Errorf("wait for the store to come back: %w", err)
		}
	}
	if o.Gone == 0 {
		return o, errNotStopped
	}
	err := l.Await(ctx, restartBound, "the backlog did not end", func() (bool, error) {
		return l.ledger.Account(l.Now().Add(-measure.Late)).Lost == 0, nil
	})
	if err != nil && !errors.Is(err, rig.ErrTooLong) { // a late one counts as lost
		return o, err
	}
	if err := l.AwaitShared(ctx); err != nil {
		return o, err
	}
	return o, l.b.Sleep(ctx, recoverySpan)
}

// answers asks the store over a connection of its own.
func (l *loadedCluster) answers(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return l.b.Scratch.Ping(bounded) == nil
}
