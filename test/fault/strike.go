package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// Striker carries out a plan and notes what it did.
type Striker struct {
	rig    *rig.Rig
	server *rig.Server
	work   *Work

	mu     sync.Mutex
	faults []history.Fault
	exits  []history.Exit
	twins  []history.Twin
	counts map[Kind]int
	clocks map[Kind]clockSteps
	steps  []history.Step
	// points count the kills at each failpoint, missed the lives that did not meet it, armed those that may meet it now.
	points, missed, armed map[string]int
	// works are pieces of work, worked is what failed of them.
	works  sync.WaitGroup
	worked error
	// jobs are those of the workload.
	jobs []history.Job
}

// NewStriker strikes a rig and its jobs; server is nil where the store cannot be killed.
func NewStriker(r *rig.Rig, s *rig.Server, w *Work, jobs []history.Job) *Striker {
	return &Striker{
		rig: r, server: s, work: w, jobs: jobs, counts: map[Kind]int{}, clocks: map[Kind]clockSteps{},
		points: map[string]int{}, missed: map[string]int{}, armed: map[string]int{},
	}
}

// StoreFell is not of the plan: the store crashed by itself.
const StoreFell Kind = "the store ended by itself, and not by the test"

// tend starts the store again when it has ended by itself, as a supervisor does, and
// notes that as a fault.
func (s *Striker) tend(ctx context.Context) {
	for s.server != nil && rig.Sleep(ctx, 500*time.Millisecond) {
		if !s.server.Fell(ctx) {
			continue
		}
		at := s.open(history.Fault{Kind: string(StoreFell), Harm: history.HarmOutage, Store: true, Mute: true})
		for s.server.Up(ctx) != nil && rig.Sleep(ctx, time.Second) { // again and again
		}
		s.over(at)
		s.mu.Lock()
		s.counts[StoreFell]++
		s.mu.Unlock()
	}
}

// Round carries out one round, without its rest. Work goes on beside the next rounds: in an outage it
// takes long.
func (s *Striker) Round(ctx context.Context, r Round) error {
	errs := make([]error, len(r.Blows))
	var wg sync.WaitGroup
	for i, b := range r.Blows {
		if b.Kind.family() == "work" {
			s.works.Go(func() { s.labour(ctx, b) })
			continue
		}
		wg.Go(func() {
			if rig.Sleep(ctx, b.After) {
				errs[i] = s.blow(ctx, b)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", r.Blows[i].Kind, err)
		}
	}
	return nil
}

// labour does a piece of work.
func (s *Striker) labour(ctx context.Context, b Blow) {
	if !rig.Sleep(ctx, b.After) {
		return
	}
	if err := s.blow(ctx, b); err != nil {
		s.mu.Lock()
		s.worked = errors.Join(s.worked, fmt.Errorf("%s: %w", b.Kind, err))
		s.mu.Unlock()
	}
}

// Done waits for the work that goes on, and returns what has failed of it.
func (s *Striker) Done() error {
	s.works.Wait()
	return s.worked
}

func (s *Striker) blow(ctx context.Context, b Blow) (err error) {
	f := history.Fault{Kind: string(b.Kind), Harm: b.Kind.harm(), Store: b.Kind.family() == "store" ||
		b.Kind.family() == "answers" || b.Kind == RowsLocked, Mute: b.Kind.mutes()}
	members := s.rig.Members
	if b.Node >= 0 {
		members = members[b.Node : b.Node+1]
		f.Node = members[0].ID
	}
	met := true
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if met {
			s.counts[b.Kind]++
		}
	}()
	switch b.Kind {
	case Twin:
		return s.twin(ctx, members[0])
	case KillAt:
		return s.killAt(ctx, b, members[0])
	case KillFlow:
		return s.killFlow(ctx, b, members[0])
	}
	at := s.open(f)
	defer func() { s.over(at) }()
	switch b.Kind {
	case Kill, Freeze, Restart, Upgrade:
		return s.process(ctx, b, members[0])
	case Flood:
		return s.work.flood(ctx, members[0], b.For)
	case DeleteQueue:
		return s.work.deleteQueue(ctx)
	case CommandBurst:
		return s.work.burst(ctx)
	case FirstLimit:
		return s.work.firstLimit(ctx)
	case ClockStep:
		return s.stepClock(ctx, b, members[0])
	case StoreStep:
		return s.stepStore(ctx, b)
	case RowsLocked:
		return lockRows(ctx, s.rig.DSN, b.For)
	case HintsClock:
		return s.jumpHints(ctx, b)
	case StoreSilent:
		if err := s.server.Freeze(); err != nil {
			return err
		}
		rig.Sleep(ctx, b.For)
		return s.server.Thaw()
	case StoreCrash:
		if err := s.server.Kill(ctx); err != nil {
			return err
		}
		rig.Sleep(ctx, b.For)
		return s.server.Up(ctx)
	case StoreReadOnly:
		if err := s.server.ReadOnly(ctx, true); err != nil {
			return err
		}
		rig.Sleep(ctx, b.For)
		return s.server.ReadOnly(context.WithoutCancel(ctx), false)
	case LostReply:
		members[0].Store.DropReplies(3)
		rig.Sleep(ctx, b.For)
		members[0].Store.DropReplies(0)
		return nil
	case RefusedOnce, RefusedFor, RefusedRow, InsteadOnce, InsteadFor, InsteadRow, AfterOnce, AfterFor, AfterRow:
		met = s.answer(ctx, b, members)
		return nil
	case HintsEmptied:
		return rig.FlushAll(ctx, s.rig.Redis)
	}
	s.ways(ctx, b, members)
	return nil
}

func (s *Striker) process(ctx context.Context, b Blow, m *rig.Member) error {
	switch b.Kind {
	case Kill:
		m.Kill()
	case Freeze:
		m.Freeze()
		rig.Sleep(ctx, b.For)
		m.Thaw()
		return nil
	default:
		began := time.Now()
		code := m.Stop()
		m.Node.Binary = s.rig.Binary
		s.mu.Lock()
		s.exits = append(s.exits, history.Exit{Node: m.ID, At: began, Code: code})
		s.mu.Unlock()
		return s.gone(string(b.Kind), m, history.HarmGone, func() error { return m.Revive(ctx) })
	}
	rig.Sleep(ctx, b.For)
	return m.Revive(ctx)
}

// killAt starts a node anew with a failpoint armed, and once more when it was met.
func (s *Striker) killAt(ctx context.Context, b Blow, m *rig.Member) error {
	err := s.gone(string(b.Kind), m, history.HarmDeath, func() error {
		m.Kill()
		return m.ReviveAt(ctx, b.Point)
	})
	if err != nil {
		return err
	}
	return s.recover(ctx, b.Point, m, s.fallen(b, m))
}

// fallen waits until a failpoint is met, and counts it.
func (s *Striker) fallen(b Blow, m *rig.Member) bool {
	met := m.Fall(b.For)
	point, _, _ := strings.Cut(b.Point, "=")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed[point] = max(s.armed[point]-1, 0)
	if met {
		s.points[point]++
	} else {
		s.missed[point]++
	}
	return met
}

// recover starts a node without a failpoint that was to meet one.
func (s *Striker) recover(ctx context.Context, point string, m *rig.Member, met bool) error {
	return s.gone(point, m, history.HarmDeath, func() error {
		if !met {
			m.Kill() // it must not be met later
		}
		return m.Revive(ctx)
	})
}

// killFlow starts a node anew with one failpoint of workflows after another. One that a node meets seldom has to be met
// at once.
func (s *Striker) killFlow(ctx context.Context, b Blow, m *rig.Member) error {
	began, met := time.Now(), false
	for n := 0; n < killFlowTimes && time.Since(began) < killFlowUntil; n++ {
		point, hit := s.leastMet(), b.Number
		if strings.HasPrefix(point, "vote.") || strings.HasPrefix(point, "stop-steps.") {
			hit = 1
		}
		b.Point = fmt.Sprintf("%s=kill@%d", point, hit)
		err := s.gone(string(b.Kind)+": "+b.Point, m, history.HarmDeath, func() error {
			m.Kill()
			return m.ReviveAt(ctx, b.Point)
		})
		if err != nil {
			return err
		}
		met = s.fallen(b, m)
	}
	return s.recover(ctx, b.Point, m, met)
}

// leastMet takes the failpoint of workflows at which the fewest nodes were killed. One that is missed again and again
// lets others have their turn.
func (s *Striker) leastMet() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns := func(point string) int { return s.points[point] + s.armed[point] + s.missed[point]/3 }
	point := slices.MinFunc(crash.FlowPoints(), func(a, b string) int { return cmp.Compare(turns(a), turns(b)) })
	s.armed[point]++
	return point
}

// gone notes a fault of a node while something is done to it.
func (s *Striker) gone(kind string, m *rig.Member, h history.Harm, do func() error) error {
	at := s.open(history.Fault{Kind: kind, Harm: h, Node: m.ID})
	defer func() { s.over(at) }()
	return do()
}

// twin starts a second process under a node's id, which is to be refused: in a
// rolling upgrade, one of the other release. If it is let in, it is ended, and the
// first one, which stops itself, comes back.
func (s *Striker) twin(ctx context.Context, m *rig.Member) error {
	t := history.Twin{Node: m.ID}
	addr, err := rig.FreeAddr(ctx)
	if err != nil {
		return err
	}
	program := s.rig.Binary
	if program == m.Node.Binary {
		program = cmp.Or(s.rig.Former, program)
	}
	second := &rig.Node{
		Binary: program, Addr: addr,
		Env: append(slices.Clone(m.Node.Env), "PS_DATA_DIR="+filepath.Join(s.rig.Dir, m.ID+"-twin")),
	}
	_, err = second.Start(ctx, "")
	t.Accepted, t.At = err == nil, time.Now()
	second.Kill()
	s.mu.Lock()
	s.twins = append(s.twins, t)
	s.mu.Unlock()
	if !t.Accepted {
		return nil
	}
	at := s.open(history.Fault{Kind: string(Twin), Harm: history.HarmDeath, Node: m.ID})
	defer func() { s.over(at) }()
	m.Fall(s.rig.Lease)
	return m.Revive(ctx)
}

// ways are the faults of what lies between nodes and services.
func (s *Striker) ways(ctx context.Context, b Blow, members []*rig.Member) {
	mode := map[Kind]rig.Mode{
		CutStore: rig.Cut, HoleStore: rig.BlackHole, HalfStore: rig.HalfOpen, SlowStore: rig.Slow, SlowForAll: rig.Slow,
		StoreAway: rig.Cut,
		CutHints:  rig.Cut, SlowHints: rig.Slow, HintsAway: rig.Cut,
	}[b.Kind]
	delay := slowWay
	if b.Kind == SlowForAll {
		delay = 500 * time.Millisecond
	}
	set := func(mode rig.Mode) {
		for _, m := range members {
			way := m.Store
			if b.Kind.family() == "hints" {
				way = m.Hints
			}
			if mode == rig.Slow {
				way.SlowBy(delay)
			} else {
				way.Set(mode)
			}
		}
	}
	set(mode)
	rig.Sleep(ctx, b.For)
	set(rig.Pass)
}

// open notes that a fault begins now, and over that it is over.
func (s *Striker) open(f history.Fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.From = time.Now()
	s.faults = append(s.faults, f)
	return len(s.faults) - 1
}

// jumpHints lets Redis' clock jump, and back: what is seen of that is that the ends
// of all leases are nearer or farther.
func (s *Striker) jumpHints(ctx context.Context, b Blow) error {
	if err := rig.ShiftLeases(ctx, s.rig.Redis, -b.Step); err != nil {
		return err
	}
	rig.Sleep(ctx, b.For)
	return rig.ShiftLeases(ctx, s.rig.Redis, b.Step)
}

func (s *Striker) over(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[at].Until = time.Now()
}
