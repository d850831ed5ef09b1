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
			f, late := o.recovery(l.ledger.Starts())
			away, first, backlog = append(away, float64(o.back-o.gone)/1000), append(first, f), append(backlog, late)
			b.Note("the store was away for %.0f ms; the first fire came %.0f ms after its return, the last late one after "+
				"%.0f ms", away[len(away)-1], f, late)
		}
		out.Away, out.First, out.Backlog = measure.Summarize(away), measure.Summarize(first), measure.Summarize(backlog)
		r.Outage = out
		return nil
	})
}

// outage is when the store was away, in µs since the epoch.
type outage struct{ gone, back int64 }

const (
	// knockEvery is the time between two looks whether the store is there.
	knockEvery = 10 * time.Millisecond
	// restartBound is how long the command and the recovery each may take.
	restartBound = 3 * time.Minute
	// late is a start that belongs to the backlog.
	late = time.Second
)

// outage runs the command, and waits until what was missed is made up for.
func (l *loadedCluster) outage(ctx context.Context, restart string) (outage, error) {
	bounded, cancel := context.WithTimeout(ctx, restartBound)
	defer cancel()
	command := exec.CommandContext(bounded, "/bin/sh", "-c", restart)
	command.Stdout, command.Stderr = l.b.Progress, l.b.Progress
	done := make(chan error, 1)
	go func() { done <- command.Run() }()
	var o outage
	for running := true; running || o.gone > 0 && o.back == 0; {
		if l.answers(bounded) {
			if o.gone > 0 && o.back == 0 {
				o.back = l.Now().UnixMicro()
			}
		} else if o.gone == 0 {
			o.gone = l.Now().UnixMicro()
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
	if o.gone == 0 {
		return o, errNotStopped
	}
	err := l.Await(ctx, restartBound, "the backlog did not end", func() (bool, error) {
		return l.ledger.Account(l.Now().Add(-late)).Lost == 0, nil
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

// recovery is from the return of the store to the first entry and to the last
// late one, in ms; 0 if none was late.
func (o outage) recovery(entries []measure.StartEvent) (firstMs, backlogMs float64) {
	first, last := int64(0), o.back
	for _, s := range entries {
		if s.At <= o.back || s.Attempt > 1 {
			continue
		}
		if first == 0 || s.At < first {
			first = s.At
		}
		if s.At-s.ScheduledTime*1000 > late.Microseconds() {
			last = max(last, s.At)
		}
	}
	return float64(max(first-o.back, 0)) / 1000, float64(last-o.back) / 1000
}
