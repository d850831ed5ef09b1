package simulate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The terms of membership, those of a cluster.
const (
	beat  = 500 * time.Millisecond
	lease = 3 * time.Second
)

// member is a node over all its lives.
type member struct {
	w     *world
	id    string
	mu    sync.Mutex
	lives int
	life  *life // nil while it is down
}

// life is one process of a node.
type life struct {
	*app.Engine
	clock *nodeClock
	gate  *gate
	rules *answer.Store
	// alone: it reaches no other node, and none reaches it.
	alone atomic.Bool
	// stopped is closed when nothing of it is left.
	stopped chan struct{}
}

// up is the life of the node; nil while it is down.
func (m *member) up() *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life
}

// config is that of the next life, in a folder of its own that leads to the one store.
func (m *member) config() (config.Config, error) {
	m.mu.Lock()
	m.lives++
	dir := filepath.Join(m.w.dir, m.id+"-"+strconv.Itoa(m.lives))
	m.mu.Unlock()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return config.Config{}, err
	}
	for _, file := range []string{datafolder.DatabaseFile, datafolder.KeyFile} {
		if err := os.Symlink(filepath.Join(m.w.dir, first, file), filepath.Join(dir, file)); err != nil {
			return config.Config{}, err
		}
	}
	return configOf(dir, m.id)
}

// first is the data folder with the store and its key.
const first = "store"

// found makes the store and its key.
func (w *world) found(ctx context.Context) error {
	cfg, err := configOf(filepath.Join(w.dir, first), "founder")
	if err != nil {
		return err
	}
	e, err := app.NewEngine(ctx, cfg, app.Options{Executor: &executor{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	e.Start()
	return e.Stop(ctx)
}

func configOf(dir, id string) (config.Config, error) {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": dir, "server.addr": "127.0.0.1:0", "node.id": id, "store.synchronous": "NORMAL",
		"engine.beatMs": ms(beat), "engine.leaseMs": ms(lease), "server.shutdownGraceSec": "20",
		"executor.slots": "64", "node.ip": "127.0.0.1", "node.port": "8080",
	}})
	return cfg, err
}

// start begins a life, again and again while the store does not let it.
func (m *member) start(ctx context.Context) error {
	for try := 1; ; try++ {
		err := m.begin(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if try == 120 {
			return fmt.Errorf("%s does not start: %w", m.id, err)
		}
		time.Sleep(time.Second)
	}
}

func (m *member) begin(ctx context.Context) error {
	cfg, err := m.config()
	if err != nil {
		return err
	}
	l := &life{clock: newNodeClock(), rules: &answer.Store{}, stopped: make(chan struct{})}
	l.gate = &gate{clock: l.clock, writing: m.w.writing, gone: make(chan struct{}), dies: func() { m.died(l) }}
	l.rules.Wire = l.gate
	l.Engine, err = app.NewEngine(ctx, cfg, app.Options{
		Clock: l.clock, Executor: &executor{m.w.target, m.id, l}, Logger: slog.New(m.w.log.of(m.id)),
		Connect: l.rules.Connect, StoreClock: storeClock{l.clock, m.w.store, l.gate}, OpenChannel: m.w.receiver.open(l),
		Peers: &peers{m.w, l},
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.life = l
	m.mu.Unlock()
	m.w.log.began(m.id)
	l.Start()
	go m.watch(l)
	return nil
}

// watch notes when the node wants to end by itself, and ends it.
func (m *member) watch(l *life) {
	select {
	case why := <-l.Lost():
		if m.up() == l && !l.gate.over() {
			m.w.exit(history.Exit{Node: m.id, At: time.Now(), Code: 1}, fmt.Sprint("it ended by itself: ", why))
			m.w.gone(m, l)
		}
	case <-l.stopped:
	}
}

// down takes the node out of the sight of callers; nil where another one has done that.
func (m *member) down(l *life) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life != l {
		return false
	}
	m.life = nil
	return true
}

// kill ends a life at once: its connections, its calls and its loops.
func (m *member) kill(l *life) {
	l.gate.kill()
	m.end(l)
}

// end lets a dead life go: its loops find that nothing answers any more.
func (m *member) end(l *life) {
	l.clock.thaw()
	m.w.ending.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = l.Stop(ctx) // nobody hears what a dead node says
		close(l.stopped)
	})
}

// stop ends a life in order; the code is what the process would end with.
func (m *member) stop(l *life) (code int) {
	defer close(l.stopped)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.Stop(ctx); err != nil && !errors.Is(err, errDead) {
		return 1
	}
	return 0
}
