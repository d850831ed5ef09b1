// Package node is one node of a bench: the real engine with an executor that observes every start.
// A node that is a process of its own reports by records. So does the target that HTTP jobs call.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Command is the hidden command by which a bench starts the nodes of its
// cluster.
const Command = "bench-node"

// Settings is the first line that a node reads.
type Settings struct {
	Config config.Config
	Served bool
	Eager  bool
	// Calls: the executors are those of a server, but for commands.
	Calls bool
}

// errAbandoned is the end of a node whose bench is gone.
var errAbandoned = errors.New("the bench that started this node is gone")

// StopBound is how long a stop may take; the runs of most benches take no time.
const StopBound = 30 * time.Second

// sendEvery is the time between two reports to the bench.
const sendEvery = 20 * time.Millisecond

// Run is one node of a bench's cluster: the real engine with the bench's
// executor. It reads its settings from in, which stays open as long as the
// bench lives, and writes a record of every handler entry to out. It stops in order when ctx
// ends, and at once when in does.
func Run(ctx context.Context, in io.Reader, out, log io.Writer) error {
	decoder := json.NewDecoder(in)
	var settings Settings
	if err := decoder.Decode(&settings); err != nil {
		return fmt.Errorf("read the node's settings: %w", err)
	}
	abandoned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(abandoned)
	}()
	n := &process{clock: clock.NewSystem(), out: &recordWriter{out: out, eager: settings.Eager}}
	n.observer = NewObserver(n.clock, n.out.starts, nil)
	if err := n.open(ctx, settings, log); err != nil {
		return err
	}
	if err := n.start(); err != nil {
		return err
	}
	err := n.sendUntilEnd(ctx, abandoned)
	if errors.Is(err, errAbandoned) {
		return err
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx),
		time.Duration(settings.Config.Server.ShutdownGraceSec)*time.Second+StopBound)
	defer cancel()
	err = errors.Join(err, n.stop(bounded))
	n.sendChanges()
	return err
}

// process is the engine of this process, seen by a bench.
type process struct {
	clock      clock.Clock
	observer   *Observer
	out        *recordWriter
	engine     *app.Engine
	server     *server.Server
	partitions measure.PartitionSet
	ends       int64
}

func (n *process) open(ctx context.Context, settings Settings, log io.Writer) error {
	o := app.Options{
		Clock: n.clock, Executor: n.observer, Observer: n.observer.Stored,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
	if settings.Calls {
		calls, err := executors.New(settings.Config, executors.Options{
			Clock: n.clock, Logger: o.Logger, Served: settings.Served,
		})
		if err != nil {
			return err
		}
		o.Executor, o.Processes = calls, calls
	}
	var err error
	if !settings.Served {
		n.engine, err = app.NewEngine(ctx, settings.Config, o)
		return err
	}
	if n.server, err = server.New(ctx, settings.Config, o); err != nil {
		return err
	}
	n.engine = n.server.Engine
	return nil
}

func (n *process) start() error {
	if n.server == nil {
		n.engine.Start()
		return nil
	}
	if err := n.server.Start(); err != nil {
		return err
	}
	_, text, _ := net.SplitHostPort(n.server.URL()[len("http://"):])
	port, err := strconv.Atoi(text)
	n.out.put(numberRecord(RecordPort, int64(port)))
	return err
}

func (n *process) stop(ctx context.Context) error {
	if n.server != nil {
		return n.server.Stop(ctx)
	}
	return n.engine.Stop(ctx)
}

// sendUntilEnd sends what is new until the node is to end.
func (n *process) sendUntilEnd(ctx context.Context, abandoned <-chan struct{}) error {
	timer := n.clock.NewTimer(sendEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-abandoned:
			return errAbandoned
		case err := <-n.engine.Lost():
			return err
		case <-timer.C():
		}
		n.sendChanges()
		timer.Reset(sendEvery)
	}
}

// sendChanges sends what has changed.
func (n *process) sendChanges() {
	p := measure.PartitionSet{Epoch: uint32(n.engine.Member.Self().Epoch)}
	for _, partition := range n.engine.Member.Partitions() {
		p.Add(partition)
	}
	if p != n.partitions {
		n.partitions = p
		n.out.put(partitionsRecord(p))
	}
	if ends := n.observer.Completed.Load(); ends != n.ends {
		n.ends = ends
		n.out.put(numberRecord(RecordEnds, ends))
	}
	n.out.flush()
}

// recordWriter writes records; safe for concurrent use. One that is not eager keeps
// them until flush. A bench that is gone is noticed elsewhere.
type recordWriter struct {
	out   io.Writer
	eager bool

	mu     sync.Mutex
	buffer []byte
}

func (t *recordWriter) starts(some ...measure.StartEvent) {
	for _, s := range some {
		t.put(startRecord(s))
	}
}

func (t *recordWriter) put(r Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer = append(t.buffer, r[:]...)
	if t.eager || len(t.buffer) > 1<<15 {
		t.write()
	}
}

func (t *recordWriter) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
}

func (t *recordWriter) write() {
	if len(t.buffer) > 0 {
		_, _ = t.out.Write(t.buffer)
		t.buffer = t.buffer[:0]
	}
}
