package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Outage is how the nodes came back after restarts of the store.
type Outage struct {
	Rounds int `json:"rounds"`
	// Away is how long the store took no connection, First from its return to
	// the first fire, Backlog to the last start that was more than a second late.
	Away    *Lateness `json:"awayMs"`
	First   *Lateness `json:"firstFireMs"`
	Backlog *Lateness `json:"backlogMs"`
}

var (
	errNoCommand  = errors.New("restart-store needs the command that restarts the store: --restart-command")
	errNotStopped = errors.New("the store was never away: the restart command does not restart it")
)

// restartStore has the store restarted in each round.
func (b *bench) restartStore(ctx context.Context) (Result, error) {
	if b.RestartCommand == "" {
		return Result{}, errNoCommand
	}
	return b.underLoad(ctx, func(ctx context.Context, l *load, r *Result) error {
		out := &Outage{Rounds: b.Rounds}
		var away, first, backlog []float64
		for range b.Rounds {
			o, err := l.outage(ctx)
			if err != nil {
				return err
			}
			f, late := o.recovery(l.ledger.entries())
			away, first, backlog = append(away, float64(o.back-o.gone)/1000), append(first, f), append(backlog, late)
			b.note("the store was away for %.0f ms; the first fire came %.0f ms after its return, the last late one after %.0f ms", away[len(away)-1], f, late)
		}
		out.Away, out.First, out.Backlog = summarize(away), summarize(first), summarize(backlog)
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
func (l *load) outage(ctx context.Context) (outage, error) {
	bounded, cancel := context.WithTimeout(ctx, restartBound)
	defer cancel()
	command := exec.CommandContext(bounded, "/bin/sh", "-c", l.b.RestartCommand)
	command.Stdout, command.Stderr = l.b.Progress, l.b.Progress
	done := make(chan error, 1)
	go func() { done <- command.Run() }()
	var o outage
	for running := true; running || o.gone > 0 && o.back == 0; {
		if l.answers(bounded) {
			if o.gone > 0 && o.back == 0 {
				o.back = l.now().UnixMicro()
			}
		} else if o.gone == 0 {
			o.gone = l.now().UnixMicro()
		}
		select {
		case err := <-done:
			if err != nil {
				return o, fmt.Errorf("restart the store: %w", err)
			}
			running = false
		default:
		}
		if err := l.b.sleep(bounded, knockEvery); err != nil {
			return o, fmt.Errorf("wait for the store to come back: %w", err)
		}
	}
	if o.gone == 0 {
		return o, errNotStopped
	}
	err := l.await(ctx, restartBound, "the backlog did not end", func() (bool, error) { return l.ledger.account(l.now().Add(-late)).lost == 0, nil })
	if err != nil && !errors.Is(err, errTooLong) { // too late is lost, and told so
		return o, err
	}
	if err := l.join(ctx); err != nil {
		return o, err
	}
	return o, l.b.sleep(ctx, settled)
}

// answers asks the store over a connection of its own.
func (l *load) answers(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := l.b.scratch.server.ExecContext(bounded, "DO 1")
	return err == nil
}

// recovery is from the return of the store to the first entry and to the last
// late one, in ms; 0 if none was late.
func (o outage) recovery(entries []sighting) (firstMs, backlogMs float64) {
	first, last := int64(0), o.back
	for _, s := range entries {
		if s.at <= o.back || s.attempt > 1 {
			continue
		}
		if first == 0 || s.at < first {
			first = s.at
		}
		if s.at-s.nominal*1000 > late.Microseconds() {
			last = max(last, s.at)
		}
	}
	return float64(max(first-o.back, 0)) / 1000, float64(last-o.back) / 1000
}
