// Package rig runs the real binary as processes, and the servers that they need. A test can kill,
// freeze, cut off and slow down each of them.
package rig

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Options say what the nodes are given.
type Options struct {
	// Binary is a build with failpoints, Dir where each node has a folder.
	Binary, Dir string
	// Former is the program that the nodes begin with, if not Binary.
	Former string
	// DSN is the store, Redis the address of the hints; empty: there are none.
	DSN, Redis string
	// Kafka is the broker, TopicPrefix what its topics begin with; the nodes reach it directly.
	Kafka, TopicPrefix string
	Nodes              int
	// Doors: they ask each other through proxies.
	Doors bool
	// Beat and Lease are the terms of membership.
	Beat, Lease time.Duration
	// Handlers are those of each node, by its index; CommandSlots how many commands a
	// node runs at a time, 0: its default. Watch is what is noted of the nodes' logs.
	Handlers     [][]string
	CommandSlots int
	Watch        []string
	// WorkerSlots is how many runs a worker takes at once, 0: its default.
	WorkerSlots int
	// Password is the first admin's, Key seals the secrets of jobs.
	Password, Key string
}

// Rig is a cluster of processes, each of which reaches its services through
// proxies of its own.
type Rig struct {
	Options
	Members []*Member
	// Workers are those that were hired.
	Workers []*Worker
}

// Member is one node of the rig.
type Member struct {
	ID   string
	Node *Node
	// Store and Hints are its ways; Hints is nil where there is no Redis. Door is the
	// way of the others to it, where that was asked for.
	Store, Hints, Door *Proxy

	// clock is the file that tells the node by how much its wall clock is off.
	clock string

	mu sync.Mutex
	// pid is 0 while no process runs; up is false while it cannot answer.
	pid    atomic.Int64
	up     atomic.Bool
	starts atomic.Int64
	// fell is when the process was found to have ended by itself.
	fell []time.Time
}

// NewRig makes the proxies; nothing runs before Start.
func NewRig(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{Options: o}
	for i := range o.Nodes {
		m := &Member{ID: fmt.Sprintf("node-%d", i)}
		r.Members = append(r.Members, m)
		store, err := mysql.ParseDSN(o.DSN)
		if err != nil {
			return r, err
		}
		if m.Store, err = NewStoreProxy(store.Addr); err != nil {
			return r, err
		}
		if o.Redis != "" {
			if m.Hints, err = NewProxy(o.Redis); err != nil {
				return r, err
			}
		}
		addr, err := FreeAddr(ctx)
		if err != nil {
			return r, err
		}
		if o.Doors {
			if m.Door, err = NewProxy(addr); err != nil {
				return r, err
			}
		}
		store.Addr = m.Store.Addr()
		env, err := r.environment(m, store.FormatDSN())
		if err != nil {
			return r, err
		}
		if i < len(o.Handlers) {
			env = append(env, "PS_FAILPOINT_HANDLERS="+strings.Join(o.Handlers[i], ","))
		}
		m.clock = filepath.Join(o.Dir, m.ID+".clock")
		env = append(env, "PS_FAILPOINT_CLOCK="+m.clock, "PS_FAILPOINT_STORE_CLOCK="+r.storeClock(),
			fmt.Sprintf("PS_EXECUTOR_COMMAND_SLOTS=%d", o.CommandSlots))
		m.Node = &Node{Binary: cmp.Or(o.Former, o.Binary), Addr: addr, Env: env, Watch: o.Watch}
	}
	return r, nil
}

// environment is how a node is configured; the one place that knows the profile.
func (r *Rig) environment(m *Member, dsn string) ([]string, error) {
	self, err := user.Current()
	if err != nil {
		return nil, err
	}
	env := []string{
		"PS_STORE_DSN=" + dsn, "PS_NODE_ID=" + m.ID, "PS_DATA_DIR=" + filepath.Join(r.Dir, m.ID),
		fmt.Sprintf("PS_ENGINE_BEATMS=%d", r.Beat.Milliseconds()),
		fmt.Sprintf("PS_ENGINE_LEASEMS=%d", r.Lease.Milliseconds()),
		"PS_AUTH_INITIAL_ADMIN_PASSWORD=" + r.Password, "PS_SECRETS_KEY=" + r.Key, "PS_LOG_LEVEL=info", "PS_LOG_FORMAT=json",
		"PS_EXECUTOR_HTTP_ALLOWPRIVATE=true", "PS_EXECUTOR_COMMAND_ENABLED=true", "PS_EXECUTOR_COMMAND_USER=" + self.Username,
	}
	if r.Kafka != "" {
		env = append(env, "PS_KAFKA_BROKERS="+r.Kafka, "PS_KAFKA_TOPIC_PREFIX="+r.TopicPrefix)
	}
	if m.Door != nil {
		_, port, err := net.SplitHostPort(m.Door.Addr())
		if err != nil {
			return nil, err
		}
		env = append(env, "PS_NODE_PORT="+port)
	}
	switch {
	case m.Hints != nil:
		return append(env, "PS_PROFILE=cluster", "PS_REDIS_ADDRS="+m.Hints.Addr()), nil
	case r.Nodes > 1: // a cluster without Redis: nobody listens at that address
		return append(env, "PS_PROFILE=cluster", "PS_REDIS_ADDRS=127.0.0.1:1"), nil
	default:
		return append(env, "PS_STORE_DRIVER=mysql"), nil
	}
}

// Start starts the first node, which prepares the store, and then the others.
func (r *Rig) Start(ctx context.Context) error {
	for _, m := range r.Members {
		if err := m.Revive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Heal lets everything pass and waits until every node runs.
func (r *Rig) Heal(ctx context.Context) error {
	for _, m := range r.Members {
		m.Store.Set(Pass)
		m.Store.DropReplies(0)
		m.Store.Answer(nil)
		for _, p := range []*Proxy{m.Hints, m.Door} {
			if p != nil {
				p.Set(Pass)
			}
		}
		m.Thaw()
	}
	for _, m := range r.Members {
		if err := m.Revive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends what still runs and keeps what the nodes have logged.
func (r *Rig) Close() {
	for _, w := range r.Workers {
		w.close(r.Dir)
	}
	for _, m := range r.Members {
		if m.Node != nil {
			m.Kill()
			_ = os.WriteFile(filepath.Join(r.Dir, m.ID+".log"), []byte(m.Node.Stderr()), 0o600)
		}
		for _, p := range []*Proxy{m.Store, m.Hints, m.Door} {
			if p != nil {
				p.Close()
			}
		}
	}
}

// StepClock sets the node's wall clock off by d; 0 sets it right.
func (m *Member) StepClock(d time.Duration) error { return step(m.clock, d.Milliseconds()) }

// storeClock is the file that tells all nodes by how much the clock of their store is off.
func (r *Rig) storeClock() string { return filepath.Join(r.Dir, "store.clock") }

// StepStoreClock sets the clock of the store's server off by whole seconds, as all nodes see it; 0 sets it right.
func (r *Rig) StepStoreClock(d time.Duration) error {
	return step(r.storeClock(), int64(d/time.Second))
}

// step writes the number of a file as one.
func step(file string, n int64) error {
	next := file + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(n, 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// Up reports whether the node is expected to answer.
func (m *Member) Up() bool { return m.up.Load() }

// Pid is the number of the process; 0 while none runs.
func (m *Member) Pid() int64 { return m.pid.Load() }

// Starts is how many processes were started.
func (m *Member) Starts() int64 { return m.starts.Load() }

// Fell is when the process was found to have ended by itself.
func (m *Member) Fell() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.fell)
}

// Base is the address of the node's API.
func (m *Member) Base() string { return "http://" + m.Node.Addr }

// reviveBound is how long a supervisor tries to start a node; the store may be
// out of its reach for most of it.
const reviveBound = 90 * time.Second

// Revive starts the node unless it runs, again and again, as a supervisor does.
func (m *Member) Revive(ctx context.Context) error { return m.ReviveAt(ctx, "") }

// ReviveAt starts the node as Revive does and arms a failpoint; a process that meets it before it is ready is left
// dead.
func (m *Member) ReviveAt(ctx context.Context, point string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
	if m.pid.Load() != 0 {
		m.up.Store(true)
		return nil
	}
	var err error
	for until := time.Now().Add(reviveBound); time.Now().Before(until) &&
		ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		m.starts.Add(1)
		if _, err = m.Node.Start(ctx, point); err == nil {
			m.pid.Store(int64(m.Node.Pid()))
			m.up.Store(true)
			return nil
		}
		m.Node.Kill()
		if name, _, _ := strings.Cut(point, "="); point != "" && m.Node.KilledItself(name) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%s did not start within %s: %w: %s", m.ID, reviveBound, err, tail(m.Node.Stderr()))
}

// Fall waits for the process to end by itself, as it is expected to, and
// reports whether it did.
func (m *Member) Fall(within time.Duration) bool {
	if m.pid.Load() != 0 && !m.Node.ExitedWithin(within) {
		return false
	}
	m.up.Store(false)
	m.pid.Store(0)
	return true
}

// look notes a process that has ended by itself.
func (m *Member) look() {
	if m.pid.Load() != 0 && m.Node.Exited() {
		m.pid.Store(0)
		m.fell = append(m.fell, time.Now())
	}
}

// Kill ends the process as kill -9 does.
func (m *Member) Kill() {
	m.up.Store(false)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
	if m.pid.Swap(0) != 0 {
		m.Node.Kill()
	}
}

// Stop ends the process gracefully and returns its exit code.
func (m *Member) Stop() int {
	m.up.Store(false)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
	if m.pid.Swap(0) == 0 {
		return 0
	}
	return m.Node.Stop()
}

// Freeze stops the process where it is, Thaw lets it go on.
func (m *Member) Freeze() {
	m.up.Store(false)
	m.signal(syscall.SIGSTOP)
}

// Thaw ends a Freeze.
func (m *Member) Thaw() {
	m.signal(syscall.SIGCONT)
	m.up.Store(m.pid.Load() != 0)
}

func (m *Member) signal(s syscall.Signal) {
	if pid := m.pid.Load(); pid != 0 {
		_ = syscall.Kill(int(pid), s)
	}
}

// tail is the end of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }
