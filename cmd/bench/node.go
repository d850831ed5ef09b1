package bench

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
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// NodeCommand is the hidden command by which a bench starts the nodes of its
// cluster.
const NodeCommand = "bench-node"

// nodeSettings is the first line that a node reads.
type nodeSettings struct {
	Config config.Config
	Served bool
	Eager  bool
}

// errAbandoned is the end of a node whose bench is gone.
var errAbandoned = errors.New("the bench that started this node is gone")

// tellEvery is the time between two looks at what a bench is to be told.
const tellEvery = 20 * time.Millisecond

// RunNode is one node of a bench's cluster: the real engine with the bench's
// executor. It reads its settings from in, which stays open as long as the
// bench lives, and tells out every handler entry. It stops in order when ctx
// ends, and at once when in does.
func RunNode(ctx context.Context, in io.Reader, out, log io.Writer) error {
	decoder := json.NewDecoder(in)
	var settings nodeSettings
	if err := decoder.Decode(&settings); err != nil {
		return fmt.Errorf("read the node's settings: %w", err)
	}
	abandoned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(abandoned)
	}()
	n := &node{machine: clock.NewSystem(), tell: &teller{out: out, eager: settings.Eager}}
	n.watch = &observer{bench: &bench{clock: n.machine}, now: n.machine.Now, see: n.tell.entries}
	if err := n.open(ctx, settings, log); err != nil {
		return err
	}
	if err := n.start(); err != nil {
		return err
	}
	err := n.report(ctx, abandoned)
	if errors.Is(err, errAbandoned) {
		return err
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(settings.Config.Server.ShutdownGraceSec)*time.Second+stopBound)
	defer cancel()
	err = errors.Join(err, n.stop(bounded))
	n.look()
	return err
}

// node is the engine of this process, seen by a bench.
type node struct {
	machine clock.Clock
	watch   *observer
	tell    *teller
	engine  *app.Engine
	server  *app.Server
	place   place
	ends    int64
}

func (n *node) open(ctx context.Context, settings nodeSettings, log io.Writer) error {
	o := app.Options{
		Clock: n.machine, Executor: n.watch, Observer: n.watch.stored,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
	var err error
	if !settings.Served {
		n.engine, err = app.NewEngine(ctx, settings.Config, o)
		return err
	}
	if n.server, err = app.NewServer(ctx, settings.Config, o); err != nil {
		return err
	}
	n.engine = n.server.Engine
	return nil
}

func (n *node) start() error {
	if n.server == nil {
		n.engine.Start()
		return nil
	}
	if err := n.server.Start(); err != nil {
		return err
	}
	_, text, _ := net.SplitHostPort(n.server.URL()[len("http://"):])
	port, err := strconv.Atoi(text)
	n.tell.put(number(recordServes, int64(port)))
	return err
}

func (n *node) stop(ctx context.Context) error {
	if n.server != nil {
		return n.server.Stop(ctx)
	}
	return n.engine.Stop(ctx)
}

// report tells what is new until the node is to end.
func (n *node) report(ctx context.Context, abandoned <-chan struct{}) error {
	timer := n.machine.NewTimer(tellEvery)
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
		n.look()
		timer.Reset(tellEvery)
	}
}

// look tells what has changed.
func (n *node) look() {
	p := place{epoch: uint32(n.engine.Member.Self().Epoch)}
	for _, partition := range n.engine.Member.Partitions() {
		p.add(partition)
	}
	if p != n.place {
		n.place = p
		n.tell.put(p.record())
	}
	if ends := n.watch.completed.Load(); ends != n.ends {
		n.ends = ends
		n.tell.put(number(recordEnds, ends))
	}
	n.tell.flush()
}

// teller writes records; safe for concurrent use. One that is not eager keeps
// them until flush. A bench that is gone is noticed elsewhere.
type teller struct {
	out   io.Writer
	eager bool

	mu   sync.Mutex
	kept []byte
}

func (t *teller) entries(some ...sighting) {
	for _, s := range some {
		t.put(s.record())
	}
}

func (t *teller) put(r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, r[:]...)
	if t.eager || len(t.kept) > 1<<15 {
		t.write()
	}
}

func (t *teller) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
}

func (t *teller) write() {
	if len(t.kept) > 0 {
		_, _ = t.out.Write(t.kept)
		t.kept = t.kept[:0]
	}
}
