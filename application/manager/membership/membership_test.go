package membership_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

var terms = liveness.Terms{Beat: time.Second, Lease: 6 * time.Second}

// cluster is some members on one store, and the time of all of them.
type cluster struct {
	t     *testing.T
	clock *clocktest.Manual
	store *persistence.Store
	lit   []string
	// litErr: nobody can be asked.
	litErr error
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, clock: clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
	cfg := dbtest.SQLite(t)
	cfg.Clock = c.clock
	c.store = dbtest.Open(t, cfg)
	return c
}

func (c *cluster) Light(context.Context, string, time.Duration) error { return nil }

func (c *cluster) Lit(context.Context) ([]string, error) { return c.lit, c.litErr }

// peer is a member, and what it was told to do.
type peer struct {
	*membership.Member
	t          *testing.T
	away       bool
	fences     int
	epochs     []int64
	reaped     []string
	held       map[string]int
	rebalanced int
	suspended  bool
	changes    int
	lost       int
}

var errAway = errors.New("the store is away")

func (p *peer) Running() (running, total int) { return 3, 8 }

func (p *peer) Suspend(draining bool) { p.suspended = draining }

func (p *peer) Fence(context.Context) error { p.fences++; return nil }

func (p *peer) Adopt(epoch int64) { p.epochs = append(p.epochs, epoch) }

func (p *peer) Reap(_ context.Context, nodeID string, _ int64) (int, error) {
	p.reaped = append(p.reaped, nodeID)
	return p.held[nodeID], nil
}

func (p *peer) Rebalanced(context.Context) error { p.rebalanced++; return nil }

// registry is the store as one node reaches it.
type registry struct {
	*persistence.Store
	p *peer
}

func (r registry) Heartbeat(ctx context.Context, n entity.Node) (bool, error) {
	if r.p.away {
		return false, errAway
	}
	return r.Store.Heartbeat(ctx, n)
}

func (p *peer) leave() { p.t.Helper(); require.NoError(p.t, p.Leave(p.t.Context())) }

// join is a node that starts.
func (c *cluster) join(id string, change func(d *membership.Deps)) *peer {
	c.t.Helper()
	p := &peer{t: c.t, held: map[string]int{}}
	n := entity.Node{ID: id, Status: entity.NodeUp, Roles: []string{entity.RoleScheduler, entity.RoleExecutor}}
	var err error
	n.Epoch, err = c.store.Register(c.t.Context(), n)
	require.NoError(c.t, err)
	d := membership.Deps{
		Registry: registry{c.store, p}, Worker: p, Planner: p, Beacons: c, Clock: c.clock, Logger: slog.New(slog.DiscardHandler), OnLost: func() { p.lost++ }, OnChange: func() { p.changes++ },
	}
	if change != nil {
		change(&d)
	}
	p.Member = membership.New(d, n, terms)
	p.beat()
	return p
}

func (p *peer) beat() { p.t.Helper(); require.NoError(p.t, p.RunOnce(p.t.Context())) }

// pass lets time pass, beat by beat, for those who are alive.
func (c *cluster) pass(beats int, alive ...*peer) {
	c.t.Helper()
	for range beats {
		c.clock.Advance(terms.Beat)
		for _, p := range alive {
			p.beat()
		}
	}
}

func (c *cluster) status(id string) entity.NodeStatus {
	c.t.Helper()
	nodes, err := c.store.All(c.t.Context())
	require.NoError(c.t, err)
	for _, n := range nodes {
		if n.ID == id {
			return n.Status
		}
	}
	return ""
}

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

func TestTheLivingShareThePartitions(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	c.requireWhole(a)
	b, d := c.join("b", nil), c.join("d", nil)
	c.pass(1, a, b, d)
	c.requireWhole(a, b, d)
	for _, p := range []*peer{a, b, d} {
		require.InDelta(t, 85, len(p.Partitions()), 35)
	}
	before := len(b.Partitions())
	told := b.rebalanced
	c.pass(5, a, b, d)
	require.Equal(t, told, b.rebalanced, "nothing moved")
	require.Len(t, b.Partitions(), before)
}

func TestASilentNodeIsReplaced(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(10, a, b)
	c.requireWhole(a, b)
	c.pass(3, a)
	require.Equal(t, entity.NodeSuspect, c.status("b"))
	c.pass(3, a)
	c.requireWhole(a, b)
	require.Empty(t, a.reaped)
	c.pass(2, a)
	require.Equal(t, entity.NodeDown, c.status("b"))
	c.requireWhole(a)
	require.Contains(t, a.reaped, "b")
}

func TestARevivedNodeStopsAndComesBackUnderANewEpoch(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(10, a, b)
	c.pass(9, a)
	require.Equal(t, entity.NodeDown, c.status("b"))
	b.beat()
	require.Equal(t, 1, b.fences)
	require.Equal(t, []int64{2}, b.epochs)
	require.EqualValues(t, 2, b.Self().Epoch)
	require.Equal(t, entity.NodeUp, c.status("b"))
	c.pass(1, b, a)
	c.pass(1, b, a)
	c.requireWhole(a, b)
	require.Equal(t, 1, b.fences)
	require.Zero(t, b.lost)
}

func TestAnotherProcessUnderTheSameIDEndsThisOne(t *testing.T) {
	c := newCluster(t)
	first := c.join("a", nil)
	second := c.join("a", nil)
	c.pass(3, first, second)
	require.Equal(t, []int{1, 0}, []int{first.lost, second.lost}, "told once")
	require.Equal(t, 1, first.fences)
	require.Empty(t, first.Partitions())
	require.Len(t, second.Partitions(), entity.Partitions)
}

// Rule 27: what a node does that cannot reach the store.
func TestANodeWithoutTheStore(t *testing.T) {
	for name, w := range map[string]struct {
		away   time.Duration
		lit    []string
		litErr error
		alone  bool
		fences bool
	}{
		"within its lease":                   {5 * time.Second, []string{"b"}, nil, false, false},
		"nobody reaches it":                  {time.Minute, nil, nil, false, false},
		"only its own light burns":           {time.Minute, []string{"a"}, nil, false, false},
		"somebody else reaches it":           {time.Minute, []string{"a", "b"}, nil, false, true},
		"nobody can be asked":                {time.Minute, nil, errAway, false, true},
		"it is alone and the store its own ": {time.Minute, nil, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			a := c.join("a", func(d *membership.Deps) {
				if w.alone {
					d.Beacons = nil
				}
			})
			c.lit, c.litErr, a.away = w.lit, w.litErr, true
			c.clock.Advance(w.away)
			require.ErrorIs(t, a.RunOnce(t.Context()), errAway)
			require.Equal(t, w.fences, a.fences == 1)
			require.Equal(t, !w.fences, len(a.Partitions()) == entity.Partitions)
			a.away = false
			a.beat()
			require.Len(t, a.Partitions(), entity.Partitions, "nobody has judged it: it goes on")
			if w.fences {
				require.Equal(t, []int64{1}, a.epochs)
			} else {
				require.Empty(t, a.epochs)
			}
		})
	}
}

func TestAfterAnOutageNobodyIsJudgedForALease(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(10, a, b)
	a.away = true
	c.clock.Advance(time.Minute)
	require.Error(t, a.RunOnce(t.Context()))
	a.away = false
	a.beat()
	c.pass(5, a)
	require.Equal(t, entity.NodeUp, c.status("b"), "it was away as well")
	c.pass(3, a)
	require.Equal(t, entity.NodeDown, c.status("b"))
}

func TestAGracefulLeaveNeedsNoWait(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(2, a, b)
	require.NoError(t, b.StepDown(t.Context()))
	require.Empty(t, b.Partitions())
	c.pass(1, a)
	c.requireWhole(a)
	require.Equal(t, entity.NodeUp, c.status("b"), "its runs go on")
	b.leave()
	require.Equal(t, entity.NodeDown, c.status("b"))
	c.pass(1, a)
	require.Contains(t, a.reaped, "b")
}

func TestTheDeadAreLookedAtAgainNowAndThen(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	b.leave()
	a.held["b"] = 2
	c.pass(3, a)
	require.Len(t, a.reaped, 3, "as long as it holds runs")
	a.held["b"] = 0
	c.pass(10, a)
	require.Len(t, a.reaped, 4)
	c.pass(10, a)
	require.Len(t, a.reaped, 5)
}

// gate is a damper that withholds some partitions.
type gate struct {
	withheld []int
	err      error
	claimed  int
	released []int
}

func (g *gate) Claim(_ context.Context, partitions []int) ([]int, error) {
	g.claimed = len(partitions)
	return slices.DeleteFunc(slices.Clone(partitions), func(p int) bool { return slices.Contains(g.withheld, p) }), g.err
}

func (g *gate) Release(_ context.Context, partitions []int) error {
	g.released = append(g.released, partitions...)
	return g.err
}

func TestADamperHoldsPartitionsBackForAWhile(t *testing.T) {
	c, g := newCluster(t), &gate{withheld: []int{3, 200}}
	a := c.join("a", func(d *membership.Deps) { d.Damper = g })
	require.Len(t, a.Partitions(), entity.Partitions-2)
	require.NotContains(t, a.Partitions(), 3)
	c.pass(6, a)
	g.withheld = []int{3}
	c.pass(1, a)
	require.Contains(t, a.Partitions(), 200, "given free")
	c.pass(4, a)
	require.NotContains(t, a.Partitions(), 3)
	c.pass(1, a)
	require.Len(t, a.Partitions(), entity.Partitions, "two leases are enough")
	require.NoError(t, a.StepDown(t.Context()))
	require.Len(t, g.released, entity.Partitions)

	g = &gate{withheld: []int{1}, err: errAway}
	b := c.join("b", func(d *membership.Deps) { d.Damper = g })
	require.Len(t, b.Partitions(), g.claimed, "without Redis nothing is held back")
	require.NotZero(t, g.claimed)
}

// A node that others have joined lets go of what is theirs now, and says so.
func TestPartitionsThatMoveAreHandedOverAtOnce(t *testing.T) {
	c, g := newCluster(t), &gate{}
	told := 0
	a := c.join("a", func(d *membership.Deps) { d.Damper, d.Announce = g, func() { told++ } })
	require.Empty(t, g.released)
	before := told
	b := c.join("b", nil)
	a.beat()
	slices.Sort(g.released)
	require.Equal(t, b.Partitions(), g.released)
	require.NotEmpty(t, g.released)
	require.Equal(t, before+1, told)
	a.beat()
	require.Equal(t, before+1, told, "once")
}

// What the registry says of this node and of the others is passed on.
func TestChangesArePassedOn(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	b := c.join("b", nil)
	a.beat()
	before := a.changes
	c.pass(2, a, b)
	require.Equal(t, before, a.changes, "nothing happened")
	require.NoError(t, c.store.Drain(t.Context(), "a", true))
	c.pass(1, a, b)
	require.Equal(t, []any{true, false, before + 1}, []any{a.suspended, b.suspended, a.changes})
	c.pass(1, a, b)
	require.True(t, a.suspended, "a beat does not end it")
	require.NoError(t, c.store.Drain(t.Context(), "a", false))
	c.pass(1, a, b)
	require.Equal(t, []any{false, before + 2}, []any{a.suspended, a.changes})
	b.leave()
	c.pass(1, a)
	require.Equal(t, before+3, a.changes)
}
