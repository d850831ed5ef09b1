package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
)

// targetBound is how long a target may take to listen, or to end.
const targetBound = 10 * time.Second

// Target is the server that HTTP jobs call, in a process of its own.
type Target struct {
	b       *Bench
	ledger  *measure.Ledger
	command *exec.Cmd
	// alive ends the process when it is closed.
	alive io.Closer
	gone  chan struct{}
	// cpu and wall are those of the beginning of the measured span.
	cpu, wall time.Duration

	mu    sync.Mutex
	ports []int
}

// StartTarget starts a target on so many addresses, and sends what calls it to the ledger.
func (b *Bench) StartTarget(ctx context.Context, hosts int, l *measure.Ledger) (*Target, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this binary: %w", err)
	}
	t := &Target{b: b, ledger: l, gone: make(chan struct{})}
	t.command = exec.Command(self, node.TargetCommand) //nolint:noctx // it outlives the call, and ends with its input
	t.command.Stderr = b.Progress
	t.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C reaches the bench alone
	in, err := t.command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the target: %w", err)
	}
	out, err := t.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the target: %w", err)
	}
	if err := t.command.Start(); err != nil {
		return nil, fmt.Errorf("start the target: %w", err)
	}
	t.alive = in
	go t.receive(out)
	if err := json.NewEncoder(in).Encode(node.TargetSettings{Hosts: hosts}); err != nil {
		return nil, errors.Join(fmt.Errorf("start the target: %w", err), t.End())
	}
	if err := t.awaitPorts(ctx, hosts); err != nil {
		return nil, errors.Join(err, t.End())
	}
	return t, nil
}

// receive reads the records of the process until it ends.
func (t *Target) receive(out io.Reader) {
	defer close(t.gone)
	node.ReadRecords(out, func(some []node.Record) {
		for i := range some {
			switch r := &some[i]; r[0] {
			case node.RecordStart:
				t.ledger.See(r.StartEvent(0))
			case node.RecordPort:
				t.mu.Lock()
				t.ports = append(t.ports, int(r.Number()))
				t.mu.Unlock()
			}
		}
	})
	_ = t.command.Wait() // how it ended is in its state
}

// awaitPorts waits until it listens on every address.
func (t *Target) awaitPorts(ctx context.Context, hosts int) error {
	for until := t.b.Clock.Monotonic() + targetBound; t.b.Clock.Monotonic() < until; {
		t.mu.Lock()
		ports := len(t.ports)
		t.mu.Unlock()
		if ports == hosts {
			return nil
		}
		select {
		case <-t.gone:
			return errors.New("the target of the calls ended")
		default:
		}
		if err := t.b.Sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: the target did not listen within %s", ErrTooLong, targetBound)
}

// URL is what the job of a number calls; the hosts take turns.
func (t *Target) URL(job int) string {
	host := job % len(t.ports)
	return "http://" + node.TargetHost(host) + ":" + strconv.Itoa(t.ports[host]) + "/" + strconv.Itoa(job)
}

// StartMeter begins a measured span.
func (t *Target) StartMeter() { t.cpu, t.wall = cpuOf(t.command.Process.Pid), t.b.Clock.Monotonic() }

// Percent is the share of one core that it has used since the beginning of the span.
func (t *Target) Percent() float64 {
	wall := t.b.Clock.Monotonic() - t.wall
	return 100 * float64(cpuOf(t.command.Process.Pid)-t.cpu) / float64(wall)
}

// End ends the process, and waits for all that it has seen. It may be called again.
func (t *Target) End() error {
	_ = t.alive.Close()
	select {
	case <-t.gone:
		return nil
	case <-t.b.Clock.NewTimer(targetBound).C():
	}
	_ = t.command.Process.Kill()
	<-t.gone
	return fmt.Errorf("%w: the target did not end within %s", ErrTooLong, targetBound)
}
