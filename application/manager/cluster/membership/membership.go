// Package membership keeps a node in the registry and tells it which part of
// the work is its own (engine rules 25–27): it beats, looks who else is alive,
// marks those who are not, divides the partitions, and has the runs of the dead
// recovered. A node that loses its right to work stops before others may take
// it over, and comes back under a new epoch. docs/cluster.md tells all of it.
package membership

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/faillog"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

// Registry is the truth of membership; see repository.Nodes and persistence.Beats.
type Registry interface {
	Register(ctx context.Context, n entity.Node) (epoch int64, err error)
	Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error)
	Mark(ctx context.Context, n entity.Node, status entity.NodeStatus, cause string) (ok bool, err error)
	Leave(ctx context.Context, id string, epoch int64) error
	View(ctx context.Context) (nodes []entity.Node, now time.Time, err error)
	// LockFree tells whether the process that published the row has lost the lock
	// of its id; known is false where that cannot be told.
	LockFree(ctx context.Context, n entity.Node) (free, known bool, err error)
	// Sever ends the store sessions of a node that is DOWN.
	Sever(ctx context.Context, n entity.Node) (ended int, err error)
}

// Worker is what the node does, and what must stop when it may not any more.
type Worker interface {
	// Load is how many slots of a kind are taken, and how many there are.
	Load(kind entity.SlotKind) (running, slots int)
	// Suspend keeps new runs away while the node drains.
	Suspend(draining bool)
	// Halt stops every run without waiting, and reports whether nothing runs; Fence
	// waits for that, or for the end of ctx.
	Halt() (ended bool)
	Fence(ctx context.Context) error
	// Adopt lets runs start again, under an epoch.
	Adopt(epoch int64)
	// Reap recovers the runs of a node that is DOWN.
	Reap(ctx context.Context, nodeID string, epoch int64) (held int, err error)
}

// Planner fires the jobs of the node's partitions.
type Planner interface {
	// Rebalanced is told that the partitions changed.
	Rebalanced(ctx context.Context) error
}

// Peers are the other nodes, as this one can ask them.
type Peers interface {
	// Ask is given up when ctx ends; entity.ErrNobodyListens is the error where
	// the machine refuses.
	Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (entity.PeerAnswer, error)
}

// Beacons are what nodes of older programs look for, in Redis, when they do not
// reach the store.
type Beacons interface {
	// Light shows that the node reached the store just now.
	Light(ctx context.Context, nodeID string, lasts time.Duration) error
}

// Damper keeps two nodes from scanning one partition while their views of the
// members differ. It decides nothing: who gets no answer goes on (engine rule
// 25).
type Damper interface {
	// Claim takes and keeps the partitions, and returns those that nobody else
	// holds.
	Claim(ctx context.Context, partitions []int) (granted []int, err error)
	// Release gives those free that the node holds.
	Release(ctx context.Context, partitions []int) error
}

// Gauge reads what the node carries, for the registry.
type Gauge interface {
	// Load is the share of the machine's processors in use, 0–1, and its memory in
	// use, in bytes.
	Load() (cpu float64, memory int64)
	// Offset is how far the store's clock is ahead of this node's.
	Offset() time.Duration
}

// Metrics counts what happens. Implementations are safe for concurrent use.
type Metrics interface {
	// Beat observes a beat with its look; good is false for one in vain.
	Beat(took time.Duration, good bool)
	// Asked counts questions to others by what came of them: "promise", "declared",
	// "silent"; Promised counts promises given.
	Asked(result string)
	Promised()
	// Stopped counts the times that this node stopped its work, by cause.
	Stopped(cause string)
	// Death observes a node that this one has declared DOWN, by cause and the age
	// of its last beat.
	Death(cause string, age time.Duration)
}

// Deps are the parts of a Member. Peers, Beacons and Damper are nil where the
// store is this node's own: then there are no others, and no outage of the store
// is a reason to stop.
type Deps struct {
	Registry Registry
	Worker   Worker
	Planner  Planner
	Peers    Peers
	Beacons  Beacons
	Damper   Damper
	Gauge    Gauge
	Metrics  Metrics
	Lease    *Lease
	Clock    clock.Clock
	Logger   *slog.Logger
	// OnChange is called when nodes came, went or changed their state; it must
	// not block. May be nil.
	OnChange func()
	// Announce tells the others that the members changed; nil where there are none.
	Announce func()
	// OnBeat is told how each beat ended. May be nil.
	OnBeat func(err error)
	// OnLost is called once when the process must end: another one runs under this
	// node's id, or work does not stop that must.
	OnLost func(why error)
}

// Member is this node among the others. Run does everything; its parts
// (BeatOnce, FollowOnce, …) are there for tests and for a start. Safe for
// concurrent use.
type Member struct {
	Deps
	terms liveness.Timing

	// beats is held by the one beat at work; what follows belongs to it.
	beats sync.Mutex
	watch *liveness.FailureDetector
	lost  bool

	// away is true from a beat in vain to the next good look, and before the first.
	away atomic.Bool
	// good is the begin of the last good beat, by the lease's clock.
	good atomic.Int64

	// right is held while the right to work changes hands.
	right     sync.Mutex
	stoppedAt time.Duration
	stuck     bool

	mu       sync.Mutex
	node     entity.Node
	draining bool
	look     look
	mine     []int
	// cancel ends the beat at work, so that the next one dials anew.
	cancel context.CancelFunc

	promises promises
	proofs   proofs
	// asked is when the others were asked last; it belongs to AskOnce.
	asked time.Duration
	// parted belongs to FollowOnce, reaps to WorkOnce.
	parted parted
	reaps  map[string]reaping
	// changed: the partitions did, and the planner does not know it.
	changed atomic.Bool

	beatNow, followNow, workNow, askNow, proveNow chan struct{}
}

// look is what was seen of the registry.
type look struct {
	nodes []entity.Node
	// now is the store's time of the look; began is its begin and since that of
	// the unbroken row of good looks to which it belongs, by the lease's clock.
	now          time.Time
	began, since time.Duration
	judgement    liveness.Evaluation
}

// New returns the member for a node that is registered under its epoch.
func New(d Deps, node entity.Node, terms liveness.Timing) *Member {
	signal := func() chan struct{} { return make(chan struct{}, 1) }
	m := &Member{
		Deps: d, terms: terms, watch: liveness.NewFailureDetector(terms), node: node, mine: []int{},
		promises: newPromises(), proofs: proofs{found: map[string]finding{}},
		parted: parted{withheld: map[int]withholding{}}, reaps: map[string]reaping{},
		beatNow: signal(), followNow: signal(), workNow: signal(), askNow: signal(), proveNow: signal(),
	}
	m.away.Store(true)
	if d.Peers == nil {
		d.Lease.lasts(forever)
	}
	return m
}

// Run beats, asks, judges and works until ctx ends.
func (m *Member) Run(ctx context.Context) {
	var loops sync.WaitGroup
	every := func(now chan struct{}, pause time.Duration, do func(ctx context.Context)) {
		loops.Go(func() {
			timer := m.Clock.NewTimer(pause)
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
	// A beat is due a beat after the former one began.
	every(m.beatNow, m.terms.Beat, func(ctx context.Context) { _ = m.BeatOnce(ctx) }) // told by OnBeat
	following, working := faillog.New("judge the others", m.Clock, m.Logger), faillog.New("take over", m.Clock, m.Logger)
	every(m.followNow, m.terms.Lease, func(ctx context.Context) { tell(ctx, following, m.FollowOnce(ctx)) })
	every(m.workNow, m.terms.Lease, func(ctx context.Context) { tell(ctx, working, m.WorkOnce(ctx)) })
	if m.Peers != nil {
		every(m.askNow, m.terms.Beat, m.AskOnce)
		proving := faillog.New("prove deaths", m.Clock, m.Logger)
		every(m.proveNow, m.terms.Lease, func(ctx context.Context) { m.proveAll(ctx, proving) })
		loops.Go(func() { m.guard(ctx) })
	}
	loops.Wait()
}

// Wake beats and looks at once: somebody says that the members changed.
func (m *Member) Wake() { poke(m.beatNow) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tell logs when a part of the membership begins to fail, and when it works again.
func tell(ctx context.Context, log *faillog.Log, err error) {
	if ctx.Err() == nil {
		log.Note(err)
	}
}

// RunOnce beats, looks around and does what follows from it, one after the
// other.
func (m *Member) RunOnce(ctx context.Context) error {
	if err := m.BeatOnce(ctx); err != nil {
		return err
	}
	return errors.Join(m.FollowOnce(ctx), m.WorkOnce(ctx))
}

// Partitions implements firing.Owner; never nil.
func (m *Member) Partitions() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mine
}

// Nodes is the registry as it was last seen.
func (m *Member) Nodes() []entity.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.look.nodes)
}

// Self is this node, with its present epoch.
func (m *Member) Self() entity.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

func (m *Member) seen() look {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.look
}

// StepDown gives the partitions to the others, before a graceful stop: the
// next look of each of them finds this node without the role.
func (m *Member) StepDown(ctx context.Context) error {
	m.mu.Lock()
	m.node.Roles = slices.DeleteFunc(slices.Clone(m.node.Roles), func(r string) bool { return r == entity.RoleScheduler })
	former := m.mine
	m.mine = []int{}
	m.mu.Unlock()
	defer m.announce()
	return errors.Join(m.BeatOnce(ctx), m.release(ctx, former))
}

// Leave marks the node as gone, when nothing runs on it any more.
func (m *Member) Leave(ctx context.Context) error {
	n := m.Self()
	return m.Registry.Leave(ctx, n.ID, n.Epoch)
}

func (m *Member) announce() {
	if m.Announce != nil {
		m.Announce()
	}
}
