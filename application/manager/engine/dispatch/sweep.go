package dispatch

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

const (
	// interval is how often the queues are looked at although nothing is known
	// to have changed.
	interval = 5 * time.Second
	// stuckAfter is how long the first of a queue waits on a full node before
	// another one is looked for.
	stuckAfter = 5 * time.Second
	// batch bounds the executions of one transaction, and page those that are looked
	// at of a queue that is probably right.
	batch = 500
	page  = 100
)

// Metrics counts runs that end in a queue.
type Metrics interface {
	Ended(end entity.AttemptEnd)
}

// Deps are the parts of a Manager.
type Deps struct {
	Store    repository.Store
	Claims   repository.ClaimReader
	Registry repository.NodeReader
	// Workers tells what became of the workers in whose queues runs wait.
	Workers repository.WorkerReader
	// Router is that of the Admitter: the sweep has it read worker groups.
	Router   *Router
	Jobs     Jobs
	Admitter *admission.Admitter
	Closer   *maintenance.Closer
	// Commits are told what may start. Losing it costs time, not truth.
	Commits *commit.Commits
	Metrics Metrics
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
}

// Manager looks after runs that wait where they cannot start. Several may work
// on one store: each change is conditional on the execution being where it was. Safe
// for concurrent use.
type Manager struct {
	Deps
	awake   atomic.Bool
	sweptAt atomic.Int64
	// unroutable is what the last look found that no node can take.
	unroutable atomic.Pointer[[]Unroutable]
}

// New wires the parts.
func New(d Deps) *Manager {
	m := &Manager{Deps: d}
	m.awake.Store(true)
	return m
}

// Wake makes the next RunOnce look at once, because the membership changed.
func (m *Manager) Wake() { m.awake.Store(true) }

// RunOnce sweeps when it was woken or the last sweep is long ago. A node that is
// no scheduler only looks what has no node.
func (m *Manager) RunOnce(ctx context.Context, scheduler bool) (err error) {
	now := m.Clock.Monotonic()
	if !m.awake.Swap(false) && now-time.Duration(m.sweptAt.Load()) < interval {
		return nil
	}
	m.sweptAt.Store(int64(now))
	if scheduler {
		_, err = m.Sweep(ctx)
	} else {
		err = m.FindUnroutable(ctx)
	}
	if err != nil {
		m.Wake()
	}
	return err
}

// Sweep sends on what waits in the wrong place, and returns how many runs it
// moved or ended. Where nothing is routed it asks the store one question.
func (m *Manager) Sweep(ctx context.Context) (moved int, err error) {
	queues := entity.QueueSpan()
	last, err := m.Claims.Last(ctx, queues.Lo, queues.Hi)
	if err != nil || last == "" || last.Queue() == entity.CommonQueue {
		if err == nil {
			m.unroutable.Store(nil)
		}
		return 0, err
	}
	s := &sweep{Manager: m, now: m.StoreClock.Now(), nodes: map[string]entity.Node{}, workers: map[string]worker.Worker{}}
	nodes, err := m.Registry.All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the registry: %w", err)
	}
	for _, n := range nodes {
		s.nodes[n.ID] = n
	}
	for lo := entity.NodeQueues; ; {
		first, err := m.Claims.First(ctx, lo, queues.Hi)
		if err != nil {
			return s.moved, err
		}
		if first.Queue() == "" {
			return s.moved, m.FindUnroutable(ctx)
		}
		if err := s.queue(ctx, first); err != nil {
			return s.moved, err
		}
		_, lo = first.Queue().Range()
	}
}

// sweep is one look over all queues.
type sweep struct {
	*Manager
	now time.Time
	// nodes are the registry, read for this look: the snapshot may be older than
	// what a broadcast has just seen.
	nodes map[string]entity.Node
	// workers are those of the groups that were looked up; nodes has them as the router sees them.
	workers map[string]worker.Worker
	moved   int
}

// queue looks at the queue that the key is the first of.
func (s *sweep) queue(ctx context.Context, first entity.ClaimKey) error {
	q := first.Queue()
	id, ok := q.Node()
	if !ok {
		return s.reroute(ctx, q, page, page)
	}
	if worker.IsID(id) {
		if err := s.lookUp(ctx, id); err != nil {
			return err
		}
	}
	switch n, known := s.nodes[id]; {
	case !known || n.Status == entity.NodeDown:
		if err := s.endBroadcasts(ctx, q); err != nil {
			return err
		}
		return s.reroute(ctx, q, batch, batch)
	case n.Status == entity.NodeDraining || hasNone(&n, q.Kind()):
		return s.reroute(ctx, q, batch, batch)
	case n.Status == entity.NodeUp && isFull(&n, q.Kind()) && s.waitsLong(first):
		free := min(s.freeSlots(id, q.Kind()), batch)
		if free == 0 {
			return nil
		}
		// No more than there is room for; and not again before the beats tell.
		return s.reroute(ctx, q, free, 0)
	case worker.IsID(id) && !isFull(&n, q.Kind()) && s.waitsLong(first):
		// It has room and does not take the run: it may have come back without the handler or the labels.
		if err := s.endRefused(ctx, q, id); err != nil {
			return err
		}
		return s.reroute(ctx, q, batch, 0)
	}
	return nil
}

// lookUp reads the workers of a group of which one is the holder of a queue, as what the sweep asks of nodes. In a
// group of more than are read, the holder is read by itself: a broadcast that waits for it must not end for want of
// room.
func (s *sweep) lookUp(ctx context.Context, id string) error {
	if _, known := s.nodes[id]; known {
		return nil
	}
	group := worker.GroupOf(id)
	workers, err := s.Workers.WorkersOf(ctx, group, worker.MaxChoice)
	if err != nil {
		return fmt.Errorf("read the workers of %s: %w", group, err)
	}
	s.note(workers)
	if _, known := s.nodes[id]; known || len(workers) < worker.MaxChoice {
		return nil
	}
	if workers, err = s.Workers.WorkersByID(ctx, []string{id}); err != nil {
		return fmt.Errorf("read the worker %s: %w", id, err)
	}
	s.note(workers)
	return nil
}

func (s *sweep) note(workers []worker.Worker) {
	for i := range workers {
		w := &workers[i]
		n := routing.WorkerCandidate(w, entity.SlotGeneral, s.now).Node
		n.CommandSlots, n.CommandRunning = w.Slots[entity.SlotCommand], w.Running[entity.SlotCommand]
		s.nodes[w.ID], s.workers[w.ID] = n, *w
	}
}

func (s *sweep) waitsLong(first entity.ClaimKey) bool {
	since, ok := first.FairTime()
	return ok && s.now.Sub(since) >= stuckAfter
}

// hasNone: the node is no executor any more, or has come back without commands.
func hasNone(n *entity.Node, kind entity.SlotKind) bool {
	_, slots := n.Load(kind)
	return slots <= 0
}

func isFull(n *entity.Node, kind entity.SlotKind) bool {
	running, slots := n.Load(kind)
	return running >= slots
}

// freeSlots counts the free slots of a kind of the other nodes that are up.
func (s *sweep) freeSlots(id string, kind entity.SlotKind) int {
	free := 0
	for _, n := range s.nodes {
		if worker.GroupOf(n.ID) != worker.GroupOf(id) {
			continue // no node takes runs of workers
		}
		if running, slots := n.Load(kind); n.ID != id && n.Status == entity.NodeUp {
			free += max(slots-running, 0)
		}
	}
	return free
}
