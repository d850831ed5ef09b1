package membership_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

var terms = liveness.Timing{Beat: 500 * time.Millisecond, Lease: 3 * time.Second}

var (
	errAway   = errors.New("the store is away")
	errSilent = errors.New("no answer")
)

// cluster is some members on one store, and the time of all of them.
type cluster struct {
	t     *testing.T
	clock *clocktest.Manual
	store *persistence.Store
	peers map[string]*peer
	order []*peer
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{
		t: t, clock: clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		peers: map[string]*peer{},
	}
	cfg := dbtest.SQLite(t)
	cfg.Clock = c.clock
	c.store = dbtest.Open(t, cfg)
	return c
}

// pair is a cluster of two nodes that have found each other.
func pair(t *testing.T) (c *cluster, a, b *peer) {
	t.Helper()
	c = newCluster(t)
	a, b = c.join("a", nil), c.join("b", nil)
	c.pass(10)
	return c, a, b
}

// declaredAtWork is a pair of which b was frozen until it was declared dead. It
// goes on, and its runs have not ended.
func declaredAtWork(t *testing.T) (c *cluster, b *peer) {
	t.Helper()
	c, _, b = pair(t)
	b.frozen = true
	c.pass(9)
	b.frozen, b.busy = false, true
	return c, b
}

// peer is a member, and what it was told to do.
type peer struct {
	*membership.Member
	Lease *membership.Lease
	t     *testing.T
	c     *cluster
	node  entity.Node
	// away: it does not reach the store. deaf: no other reaches it, nor it them.
	// gone: nobody listens any more, and the lock of its id is free. frozen: it does nothing.
	away, deaf, gone, frozen bool
	// closed: nobody listens at its address, or whom impostor speaks for. unlocked: its
	// connection to the store has ended. elsewhere: the store is another server now.
	closed, unlocked, elsewhere bool
	impostor                    *entity.PeerAnswer
	// slow is called in the middle of a beat.
	slow func(ctx context.Context)
	// busy: its runs do not end.
	busy bool
	// ended: no runs are left since it was halted.
	ended      bool
	halts      int
	stoppedAt  time.Time
	epochs     []int64
	reaped     []string
	severed    []string
	held       map[string]int
	rebalanced int
	suspended  bool
	changes    int
	lost       []error
	stops      []string
	deaths     []string
	asked      int
	marked     map[string]time.Time
}

func (p *peer) Load(kind entity.SlotKind) (running, slots int) {
	if p.ended {
		return 0, 8
	}
	if kind == entity.SlotCommand {
		return 1, 2
	}
	return 3, 8
}

func (p *peer) Suspend(draining bool) { p.suspended = draining }

func (p *peer) Halt() bool {
	p.halts++
	p.ended = !p.busy
	return p.ended
}

func (p *peer) Fence(context.Context) error {
	if p.busy {
		return errors.New("3 runs have not ended")
	}
	return nil
}

func (p *peer) Adopt(epoch int64) {
	p.epochs = append(p.epochs, epoch)
	p.ended = false
}

func (p *peer) Reap(_ context.Context, nodeID string, _ int64) (int, error) {
	p.reaped = append(p.reaped, nodeID)
	return p.held[nodeID], nil
}

func (p *peer) Rebalanced(context.Context) error { p.rebalanced++; return nil }

func (p *peer) Beat(time.Duration, bool) {}
func (p *peer) Asked(string)             { p.asked++ }
func (p *peer) Promised()                {}
func (p *peer) Stopped(cause string) {
	p.stops = append(p.stops, cause)
	p.stoppedAt = p.c.clock.Now()
}
func (p *peer) Death(cause string, _ time.Duration) { p.deaths = append(p.deaths, cause) }

// registry is the store as one node reaches it.
type registry struct {
	*persistence.Store
	p *peer
}

func (r registry) Heartbeat(ctx context.Context, n entity.Node) (bool, error) {
	if r.p.away {
		return false, errAway
	}
	if r.p.slow != nil {
		r.p.slow(ctx)
	}
	return r.Store.Heartbeat(ctx, n)
}

func (r registry) View(ctx context.Context) ([]entity.Node, time.Time, error) {
	if r.p.away {
		return nil, time.Time{}, errAway
	}
	return r.Store.View(ctx)
}

func (r registry) Mark(ctx context.Context, n entity.Node, s entity.NodeStatus, cause string) (bool, error) {
	if r.p.away {
		return false, errAway
	}
	ok, err := r.Store.Mark(ctx, n, s, cause)
	if ok && s == entity.NodeDown {
		r.p.marked[n.ID] = r.p.c.clock.Now()
	}
	return ok, err
}

func (r registry) LockFree(_ context.Context, n entity.Node) (free, known bool, err error) {
	if r.p.away {
		return false, false, errAway
	}
	other := r.p.c.peers[n.ID]
	return other.gone || other.unlocked, n.Life.LockSession != 0 && !other.elsewhere, nil
}

func (r registry) Sever(_ context.Context, n entity.Node) (int, error) {
	r.p.severed = append(r.p.severed, n.ID)
	return 1, nil
}

// air is the way from one node to the others.
type air struct{ from *peer }

func (a air) Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (entity.PeerAnswer, error) {
	to := a.from.c.peers[n.ID]
	switch {
	case to == nil || a.from.deaf || to.deaf || to.frozen:
		return entity.PeerAnswer{}, errSilent
	case to.impostor != nil:
		return *to.impostor, nil
	case to.gone || to.closed:
		return entity.PeerAnswer{}, entity.ErrNobodyListens
	}
	return to.Answer(ctx, q), nil
}

// join is a node that starts.
func (c *cluster) join(id string, change func(d *membership.Deps)) *peer {
	c.t.Helper()
	p := &peer{t: c.t, c: c, held: map[string]int{}, marked: map[string]time.Time{}}
	p.node = entity.Node{
		ID: id, Status: entity.NodeUp, Roles: []string{entity.RoleScheduler, entity.RoleExecutor}, IP: "10.0.0.1", Port: 1,
		Life: entity.NodeLife{
			Lease: terms.Lease, Boot: "boot of " + id + c.clock.Now().String(), Server: "s@1",
			LockSession: 7,
		},
	}
	var err error
	p.node.Epoch, err = c.store.Register(c.t.Context(), p.node)
	require.NoError(c.t, err)
	d := membership.Deps{
		Registry: registry{c.store, p}, Worker: p, Planner: p, View: membership.NewView(), Peers: air{p}, Metrics: p,
		Lease: membership.NewLease(c.clock.Monotonic), Clock: c.clock,
		Logger: slog.New(slog.DiscardHandler), OnLost: func(why error) { p.lost = append(p.lost, why) }, OnChange: func() {
			p.changes++
		},
	}
	if change != nil {
		change(&d)
	}
	p.Member, p.Lease = membership.New(d, p.node, terms), d.Lease
	c.peers[id] = p
	c.order = append(c.order, p)
	p.beat()
	return p
}

// beat is one turn of everything that a node does.
func (p *peer) beat() {
	p.t.Helper()
	if p.frozen || p.gone {
		return
	}
	err := p.BeatOnce(p.t.Context())
	if p.away {
		require.ErrorIs(p.t, err, errAway)
	} else {
		require.NoError(p.t, err)
	}
	p.AskOnce(p.t.Context())
	p.GuardOnce()
	if p.away {
		return
	}
	require.NoError(p.t, p.FollowOnce(p.t.Context()))
	require.NoError(p.t, p.WorkOnce(p.t.Context()))
}

// pass lets beats pass for all who are there.
func (c *cluster) pass(beats int) {
	c.t.Helper()
	for range beats {
		c.clock.Advance(terms.Beat)
		for _, p := range c.order {
			p.beat()
		}
	}
}

// passFinely lets time pass in steps, with the timers of leases looking at each.
func (c *cluster) passFinely(d, step time.Duration) {
	c.t.Helper()
	for at := time.Duration(0); at < d; at += step {
		c.clock.Advance(step)
		for _, p := range c.order {
			if !p.frozen && !p.gone {
				p.GuardOnce()
			}
		}
		if (at+step)%terms.Beat == 0 {
			for _, p := range c.order {
				p.beat()
			}
		}
	}
}

func (c *cluster) row(id string) entity.Node {
	c.t.Helper()
	nodes, err := c.store.All(c.t.Context())
	require.NoError(c.t, err)
	for _, n := range nodes {
		if n.ID == id {
			return n
		}
	}
	return entity.Node{}
}

func (c *cluster) status(id string) entity.NodeStatus { c.t.Helper(); return c.row(id).Status }

// shared counts the owners of each partition.
func shared(peers ...*peer) (owners map[int]int) {
	owners = map[int]int{}
	for _, p := range peers {
		for _, partition := range p.Partitions() {
			owners[partition]++
		}
	}
	return owners
}

func (c *cluster) requireWhole(peers ...*peer) {
	c.t.Helper()
	owners := shared(peers...)
	require.Len(c.t, owners, entity.Partitions)
	for partition, n := range owners {
		require.Equal(c.t, 1, n, "partition %d", partition)
	}
}

// gate grants the leases of all but some partitions.
type gate struct {
	mu       sync.Mutex
	withheld []int
	err      error
	claimed  int
	released []int
}

func (g *gate) Claim(_ context.Context, partitions []int) ([]int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.claimed = len(partitions)
	return slices.DeleteFunc(slices.Clone(partitions), func(p int) bool { return slices.Contains(g.withheld, p) }), g.err
}

func (g *gate) Release(_ context.Context, partitions []int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = append(g.released, partitions...)
	return g.err
}
