package standby_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/standby"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

var (
	noon      = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	timing    = liveness.Timing{Beat: 500 * time.Millisecond, Lease: 3 * time.Second}
	errSilent = errors.New("no answer")
)

// others answer for the nodes that the registry names.
type others struct {
	mu      sync.Mutex
	answers map[string]func() (entity.PeerAnswer, error)
	asked   map[string]int
}

func (o *others) Ask(_ context.Context, n entity.Node, _ entity.PeerQuestion) (entity.PeerAnswer, error) {
	o.mu.Lock()
	o.asked[n.ID]++
	answer := o.answers[n.ID]
	o.mu.Unlock()
	if answer == nil {
		return entity.PeerAnswer{}, errSilent
	}
	return answer()
}

// rig is a check of a node, with a clock that a test moves.
type rig struct {
	t     *testing.T
	clock *clocktest.Manual
	gate  *standby.Gate
	peers *others
	check *standby.Check
}

func node(id string) entity.Node {
	return entity.Node{
		ID: id, IP: "10.0.0.1", Port: 1, Epoch: 1, Status: entity.NodeUp, LastHeartbeat: noon,
		Life: entity.NodeLife{Lease: timing.Lease, Boot: "boot of " + id},
	}
}

func newRig(t *testing.T, named ...entity.Node) *rig {
	r := &rig{
		t: t, clock: clocktest.NewManual(noon),
		peers: &others{answers: map[string]func() (entity.PeerAnswer, error){}, asked: map[string]int{}},
	}
	r.clock.Advance(time.Hour)
	r.gate = standby.NewGate(r.clock)
	r.check = standby.NewCheck(standby.CheckDeps{
		Gate: r.gate, Peers: r.peers, Self: node("me"), Named: named, Timing: timing, Elapsed: r.clock.Monotonic,
		Clock: r.clock, Logger: slog.New(slog.DiscardHandler),
	})
	return r
}

// round asks once and lets the pause pass; it returns whether the gate was open then.
func (r *rig) round() bool {
	pause, again := r.check.Once(r.t.Context())
	open := r.gate.Open()
	if again {
		r.clock.Advance(pause)
	}
	return open
}

// elsewhere is a node that has worked on another store since noon.
func (r *rig) elsewhere(id string, change func(a *entity.PeerAnswer)) {
	look := int64(100)
	r.peers.answers[id] = func() (entity.PeerAnswer, error) {
		look++
		a := entity.PeerAnswer{
			NodeID: id, Epoch: 1, Boot: "boot of " + id, Store: true, Look: look,
			WorkedMs: r.clock.Now().Sub(noon).Milliseconds(),
		}
		if change != nil {
			change(&a)
		}
		return a, nil
	}
}

// Rule 27: a node of a copy finds the original at work and stands by for as long as the original works.
func TestANewcomerStandsByWhileTheOriginalWorks(t *testing.T) {
	r := newRig(t, node("a"), node("b"))
	require.False(t, r.gate.Open(), "it does nothing before it knows")
	require.False(t, r.gate.State().On, "and says nothing yet")
	r.elsewhere("a", nil)
	for range 40 {
		require.False(t, r.round())
	}
	state := r.gate.State()
	require.True(t, state.On)
	require.Contains(t, state.Reason, "the node a at 10.0.0.1")
	reason, blocks := r.gate.Trouble()
	require.Equal(t, state.Reason, reason)
	require.False(t, blocks)
	delete(r.peers.answers, "a") // it has stopped
	stopped := r.clock.Now()
	for !r.round() {
		require.Less(t, r.clock.Now().Sub(stopped), 2*timing.Lease)
	}
	require.Greater(t, r.clock.Now().Sub(stopped), timing.Lease-timing.Beat, "a lease after the last answer")
	require.Equal(t, standby.State{}, r.gate.State())
}

func TestWhatIsNoReasonToStandBy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *entity.PeerAnswer)
		rounds int
	}{
		"it sees this node":               {func(a *entity.PeerAnswer) { a.Sees = true }, 1},
		"it sees this node at its 3rd":    {func(a *entity.PeerAnswer) { a.Sees = a.Look > 102 }, 3},
		"it is of the former release":     {func(a *entity.PeerAnswer) { a.Look, a.WorkedMs = 0, 0 }, 1},
		"it does not reach its store":     {func(a *entity.PeerAnswer) { a.Store = false }, 1},
		"it stands by itself":             {func(a *entity.PeerAnswer) { a.WorkedMs = 0 }, 1},
		"this process is at that address": {func(a *entity.PeerAnswer) { a.Boot = "boot of me" }, 1},
	} {
		r := newRig(t, node("a"))
		r.elsewhere("a", c.change)
		for n := 1; n <= 20; n++ {
			open := r.round()
			require.False(t, r.gate.State().On, name)
			if n >= c.rounds {
				require.True(t, open, "%s: round %d", name, n)
			}
		}
	}
}

// Looks that do not go on prove nothing. An answer of another life proves nothing either.
func TestANodeHasToLookTwice(t *testing.T) {
	r := newRig(t, node("a"))
	boots := []string{"x", "x", "y", "y", "z"}
	n := 0
	r.elsewhere("a", func(a *entity.PeerAnswer) {
		a.Boot = boots[min(n, len(boots)-1)]
		a.Look = int64(100 + n)
		n++
	})
	for range 5 {
		r.round()
		require.False(t, r.gate.State().On)
	}
	r.round()
	require.False(t, r.gate.State().On)
	r.round()
	require.True(t, r.gate.State().On)
}

func TestTheSilentHoldNobodyBackForLong(t *testing.T) {
	down := node("down")
	down.Status = entity.NodeDown
	old := node("old")
	old.Life = entity.NodeLife{}
	require.True(t, newRig(t).gate.Open(), "a registry that names nobody")
	require.True(t, newRig(t, old).gate.Open(), "nobody who could answer")
	r := newRig(t, down)
	require.True(t, r.round())
	r = newRig(t, node("a"))
	r.peers.answers["a"] = func() (entity.PeerAnswer, error) { return entity.PeerAnswer{}, entity.ErrNobodyListens }
	require.True(t, r.round())
	r = newRig(t, node("a"), node("b"))
	require.False(t, r.round(), "a machine may be slow once")
	require.True(t, r.round())

	// The original was away when this node began. The check finds it later.
	r.elsewhere("b", nil)
	for range 4 {
		r.round()
	}
	require.False(t, r.gate.Open())
}

// A check asks no node for ever.
func TestAskingEnds(t *testing.T) {
	r := newRig(t, node("a"))
	began, again := r.clock.Now(), true
	for again {
		var pause time.Duration
		pause, again = r.check.Once(t.Context())
		r.clock.Advance(pause)
		require.Less(t, r.clock.Now().Sub(began), time.Hour)
	}
	require.Less(t, r.peers.asked["a"], 120)
}

// Of two nodes that begin at one moment on two stores, one works and one stands by.
func TestOfTwoThatBeganTogetherOneWorks(t *testing.T) {
	clock := clocktest.NewManual(noon)
	clock.Advance(time.Hour)
	type side struct {
		gate  *standby.Gate
		check *standby.Check
		look  int64
	}
	var a, b *side
	ask := func(of **side, boot string) func() (entity.PeerAnswer, error) {
		return func() (entity.PeerAnswer, error) {
			s := *of
			s.look++
			return entity.PeerAnswer{
				NodeID: boot, Boot: boot, Store: true, Look: s.look, WorkedMs: s.gate.Worked().Milliseconds(),
			}, nil
		}
	}
	begin := func(id, other string, of **side) *side {
		peers := &others{answers: map[string]func() (entity.PeerAnswer, error){}, asked: map[string]int{}}
		s := &side{gate: standby.NewGate(clock)}
		peers.answers[other] = ask(of, "boot of "+other)
		s.check = standby.NewCheck(standby.CheckDeps{
			Gate: s.gate, Peers: peers, Self: node(id), Named: []entity.Node{node(other)}, Timing: timing,
			Elapsed: clock.Monotonic, Clock: clock, Logger: slog.New(slog.DiscardHandler),
		})
		return s
	}
	a = begin("a", "b", &b)
	b = begin("b", "a", &a)
	both := 0
	for n := range 200 {
		_, _ = a.check.Once(t.Context())
		_, _ = b.check.Once(t.Context())
		clock.Advance(timing.Beat)
		switch {
		case a.gate.Open() && b.gate.Open():
			both++
		case n > 10:
			require.True(t, a.gate.Open(), "round %d: the lesser boot works on", n)
		}
	}
	require.LessOrEqual(t, both, 6, "for a moment")
}

// states is a store that says what a test wants.
type states struct {
	state entity.StoreState
	err   error
}

func (s *states) StoreState(context.Context) (entity.StoreState, error) { return s.state, s.err }

func TestAStoredStandbyEndsWhenTheStoreIsActivated(t *testing.T) {
	r := newRig(t, node("a"))
	r.elsewhere("a", nil)
	stored := &states{state: entity.StoreState{
		Mode: entity.StoreStandby, Reason: "a drill", By: "ann", Since: noon,
	}}
	mode := standby.NewMode(stored, r.gate, r.check.Stop, slog.New(slog.DiscardHandler))
	require.NoError(t, mode.RunOnce(t.Context()))
	for range 5 {
		r.round()
	}
	reason := r.gate.State().Reason
	require.Contains(t, reason, "since 2026-11-20T12:00:00Z, set by ann: a drill; `platform-scheduler store activate`")
	require.Contains(t, reason, "works on another store")
	stored.err = errSilent
	require.ErrorIs(t, mode.RunOnce(t.Context()), errSilent)
	require.False(t, r.gate.Open(), "a store that is away activates nothing")
	stored.err = nil
	stored.state = entity.StoreState{Mode: entity.StoreActive, By: "bob", Since: noon.Add(time.Hour)}
	require.NoError(t, mode.RunOnce(t.Context()))
	require.True(t, r.gate.Open(), "who activates a store has said which one is to work")
	_, again := r.check.Once(t.Context())
	require.False(t, again)
	stored.state = entity.StoreState{Mode: entity.StoreStandby, Since: noon.Add(2 * time.Hour)}
	require.NoError(t, mode.RunOnce(t.Context()))
	require.False(t, r.gate.Open())
}

// Loops run while the gate is open, and leadership rests while it is closed.
func TestLoopsRunWhileTheGateIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := standby.NewGate(clocktest.NewManual(noon))
		lead := gate.Lead(nil)
		ctx, cancel := context.WithCancel(t.Context())
		begun, ended := 0, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			gate.While(ctx, func(ctx context.Context) {
				begun++
				<-ctx.Done()
				ended++
			})
		}()
		is := func(wantBegun, wantEnded int) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, []int{wantBegun, wantEnded}, []int{begun, ended})
			_, leads := lead.Since()
			require.Equal(t, begun > ended, leads)
			require.Equal(t, leads, lead.IsLeader(ctx) == nil)
		}
		is(1, 0)
		gate.Set(standby.Stored, "a copy")
		is(1, 1)
		gate.Set(standby.Asked, "asked")
		gate.Set(standby.Stored, "")
		is(1, 1)
		gate.Set(standby.Asked, "")
		is(2, 1)
		cancel()
		<-done
		require.Equal(t, []int{2, 2}, []int{begun, ended})
	})
}
