// Package membership keeps a node in the registry and assigns its partitions to it
// (engine rules 25–27). It beats, detects failed nodes, marks them, and recovers
// their runs. A node that loses its lease stops before other nodes may take its work
// over. It returns under a new epoch. See docs/cluster.md.
package membership

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/partitions"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// Registry stores the nodes and is authoritative; see repository.Nodes and
// persistence/engine/registry.Beats.
type Registry interface {
	Register(ctx context.Context, n entity.Node) (epoch int64, err error)
	Connect(ctx context.Context) error
	Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error)
	Mark(ctx context.Context, n entity.Node, status entity.NodeStatus, cause string) (ok bool, err error)
	Leave(ctx context.Context, id string, epoch int64) error
	View(ctx context.Context) (nodes []entity.Node, now time.Time, err error)
	// LockFree reports whether the process that published the row has lost the lock
	// of its id; known is false where the store cannot say.
	LockFree(ctx context.Context, n entity.Node) (free, known bool, err error)
	// Sever ends the store sessions of a node that is DOWN.
	Sever(ctx context.Context, n entity.Node) (ended int, err error)
}

// Worker runs the executions of the node. It stops them when the lease ends.
type Worker interface {
	// Load returns how many slots of a kind are taken, and how many exist.
	Load(kind entity.SlotKind) (running, slots int)
	// Suspend starts no new runs while the node drains.
	Suspend(draining bool)
	// Halt stops every run without waiting, and reports whether nothing runs. Fence
	// waits until nothing runs, or until ctx ends.
	Halt() (ended bool)
	Fence(ctx context.Context) error
	// Adopt allows runs to start again, under an epoch.
	Adopt(epoch int64)
	// Reap recovers the runs of a node that is DOWN.
	Reap(ctx context.Context, nodeID string, epoch int64) (held int, err error)
}

// Planner fires the jobs of the node's partitions.
type Planner interface {
	// Rebalanced plans the partitions that are new to the node.
	Rebalanced(ctx context.Context) error
}

// Peers calls the other nodes.
type Peers interface {
	// Ask returns when ctx ends at the latest. The error is entity.ErrNobodyListens
	// where the machine refuses the connection.
	Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (entity.PeerAnswer, error)
}

// Gate says whether this node may work; see package standby.
type Gate interface {
	Open() bool
	// Worked is how long it has been open; 0 while it is closed.
	Worked() time.Duration
}

// LivenessStore shows nodes of older releases which nodes reach the store. They read
// it from Redis when they do not reach the store themselves.
type LivenessStore interface {
	// MarkAlive records that the node has just reached the store.
	MarkAlive(ctx context.Context, nodeID string, lasts time.Duration) error
}

// LoadReporter measures the load of the machine for the registry.
type LoadReporter interface {
	// Load returns the share of the processors in use, 0–1, and the memory in use, in
	// bytes.
	Load() (cpu float64, memory int64)
	// Offset returns how far the store's clock is ahead of this node's.
	Offset() time.Duration
}

// Metrics counts events. Implementations are safe for concurrent use.
type Metrics interface {
	// Beat observes a beat with its look; good is false for one that failed.
	Beat(took time.Duration, good bool)
	// Asked counts questions to other nodes by result: "promise", "declared",
	// "silent". Promised counts promises given.
	Asked(result string)
	Promised()
	// Stopped counts how often this node stopped its work, by cause.
	Stopped(cause string)
	// Death observes a node that this one declared DOWN: the cause, and the age of
	// its last beat.
	Death(cause string, age time.Duration)
}

// Deps are the parts of a Member. Peers, Liveness and PartitionLeases are nil where
// the store belongs to this node alone. Then no other nodes exist, and an outage of
// the store is no reason to stop.
type Deps struct {
	Registry Registry
	Worker   Worker
	Planner  Planner
	// View is where the member publishes its nodes and partitions.
	View            *View
	Peers           Peers
	Liveness        LivenessStore
	PartitionLeases partitions.Leases
	Load            LoadReporter
	Metrics         Metrics
	Lease           *Lease
	// Gate is closed while this node stands by: it beats and looks, and does nothing
	// else. Nil is always open.
	Gate   Gate
	Clock  clock.Clock
	Logger *slog.Logger
	// OnChange is called when nodes join, leave or change their status. It must not
	// block. May be nil.
	OnChange func()
	// Announce tells the other nodes that the members changed. May be nil.
	Announce func()
	// OnBeat receives the result of each beat. May be nil.
	OnBeat func(err error)
	// OnLost is called once when the process must end: another process runs under this
	// node's id, or a run does not stop although it must.
	OnLost func(why error)
}

// Member is this node as a member of the cluster. Run does everything. Tests and a
// start call its parts: BeatOnce, FollowOnce and so on. Safe for concurrent use.
type Member struct {
	deps   Deps
	timing liveness.Timing

	// beats has room for one beat at a time; it guards detector and lost.
	beats    turns.Turn
	detector *liveness.FailureDetector
	lost     bool

	// away is true from a failed beat to the next good look, and before the first.
	away atomic.Bool
	// looks counts the good looks.
	looks atomic.Int64
	// good is the begin of the last good beat, by the lease's clock.
	good atomic.Int64

	// leaseMu is held while the node gains or loses its lease.
	leaseMu   sync.Mutex
	stoppedAt time.Duration
	// stoppedFor is the cause of the stop.
	stoppedFor string
	stuck      bool

	mu   sync.Mutex
	node entity.Node
	view registryView
	// cancel ends the beat in progress, so that the next one opens a new connection.
	cancel context.CancelFunc

	promises promises
	proofs   proofs
	// asked is when this node last asked the others; only AskOnce uses it.
	asked time.Duration
	// Only FollowOnce uses assigner and followed, the nodes that OnChange was last
	// called for; only WorkOnce uses reaps.
	assigner *partitions.Assigner
	followed []entity.Node
	reaps    map[string]reaping
	// changed is true when the partitions changed and the planner does not know yet.
	changed atomic.Bool

	beatNow, followNow, workNow, askNow, proveNow chan struct{}
}

// registryView is the result of one look at the registry.
type registryView struct {
	nodes []entity.Node
	// now is the store's time of the look; began is its begin by the lease's clock.
	// since is the begin of the unbroken series of good looks that it belongs to.
	now          time.Time
	began, since time.Duration
	evaluation   liveness.Evaluation
}

// New returns the member for a node that is already registered under its epoch.
func New(d Deps, node entity.Node, timing liveness.Timing) *Member {
	signal := func() chan struct{} { return make(chan struct{}, 1) }
	m := &Member{
		deps: d, timing: timing, detector: liveness.NewFailureDetector(timing), node: node,
		promises: newPromises(), proofs: proofs{found: map[string]deathSigns{}},
		assigner: partitions.New(d.PartitionLeases, partitions.Config{
			Beat: timing.Beat, Lease: timing.Lease,
			Elapsed: d.Lease.elapsed,
		}, d.Logger),
		reaps:   map[string]reaping{},
		beats:   turns.NewTurn(),
		beatNow: signal(), followNow: signal(), workNow: signal(), askNow: signal(), proveNow: signal(),
	}
	m.away.Store(true)
	if d.Peers == nil {
		d.Lease.lasts(forever)
	}
	d.Lease.stopped.Store(m.standsBy())
	return m
}

// Run beats, asks, judges and works until ctx ends.
func (m *Member) Run(ctx context.Context) {
	var loops sync.WaitGroup
	every := func(now chan struct{}, pause time.Duration, do func(ctx context.Context)) {
		loops.Go(func() {
			timer := m.deps.Clock.NewTimer(pause)
			defer timer.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-now:
				case <-timer.C():
				}
				timer.Reset(pause)
				do(ctx)
			}
		})
	}
	// A beat is due one interval after the former one began.
	every(m.beatNow, m.timing.Beat, func(ctx context.Context) { _ = m.BeatOnce(ctx) }) // OnBeat receives the error
	following, working := faillog.OfTask("judge the others", m.deps.Clock, m.deps.Logger),
		faillog.OfTask("take over", m.deps.Clock, m.deps.Logger)
	every(m.followNow, m.timing.Lease, func(ctx context.Context) { report(ctx, following, m.FollowOnce(ctx)) })
	every(m.workNow, m.timing.Lease, func(ctx context.Context) { report(ctx, working, m.WorkOnce(ctx)) })
	if m.deps.Peers != nil {
		every(m.askNow, m.timing.Beat, m.AskOnce)
		proving := faillog.OfTask("prove deaths", m.deps.Clock, m.deps.Logger)
		every(m.proveNow, m.timing.Lease, func(ctx context.Context) { m.proveAll(ctx, proving) })
		loops.Go(func() { m.guard(ctx) })
	}
	loops.Wait()
}

// Wake beats and looks at once, because the members may have changed.
func (m *Member) Wake() { wake(m.beatNow) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// report logs when a part of the membership begins to fail, and when it works again.
func report(ctx context.Context, log *faillog.Recorder, err error) {
	if ctx.Err() == nil {
		log.Observe(err)
	}
}

// RunOnce beats, looks at the registry and acts on it, one step after the other.
func (m *Member) RunOnce(ctx context.Context) error {
	if err := m.BeatOnce(ctx); err != nil {
		return err
	}
	return errors.Join(m.FollowOnce(ctx), m.WorkOnce(ctx))
}

// Partitions implements firing.Owner; never nil.
func (m *Member) Partitions() []int { return m.deps.View.Partitions() }

// Nodes returns the registry as this node last saw it.
func (m *Member) Nodes() []entity.Node { return m.deps.View.Nodes() }

// Self returns this node, with its present epoch.
func (m *Member) Self() entity.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

func (m *Member) lastView() registryView {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view
}

// StepDown gives the partitions to the other nodes before a graceful stop: their
// next looks find this node without the scheduler role.
func (m *Member) StepDown(ctx context.Context) error {
	m.mu.Lock()
	m.node.Roles = slices.DeleteFunc(slices.Clone(m.node.Roles), func(r string) bool { return r == entity.RoleScheduler })
	former := m.deps.View.setPartitions([]int{})
	m.mu.Unlock()
	defer m.announce()
	return errors.Join(m.BeatOnce(ctx), m.assigner.Release(ctx, former))
}

// Leave marks the node as gone. Call it when nothing runs on the node any more.
func (m *Member) Leave(ctx context.Context) error {
	n := m.Self()
	return m.deps.Registry.Leave(ctx, n.ID, n.Epoch)
}

func (m *Member) announce() {
	if m.deps.Announce != nil {
		m.deps.Announce()
	}
}
