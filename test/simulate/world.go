// Package simulate lets three nodes work on one store in virtual time, with the loops of the product, and disturbs them
// by a seed. Test/history judges what came of it.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Scenario is what is simulated.
type Scenario struct {
	Seed uint64
	// For is how long the nodes are disturbed.
	For time.Duration
	// Dir is an empty folder.
	Dir string

	// errors are those that the store may answer.
	errors []failure
}

// nodes is how many there are.
const nodes = 3

// world is the store, its clock, the nodes and what is known of them.
type world struct {
	Scenario
	dir      string
	writing  chan struct{}
	store    *wall
	target   *target
	receiver *receiver
	log      *logs
	members  []*member
	jobs     []*job
	ending   sync.WaitGroup

	mu     sync.Mutex
	faults []history.Fault
	exits  []history.Exit
	steps  []history.Step
	counts map[Kind]int
	// highest is the latest time that the store's clock has shown.
	highest time.Time
	h       history.History
	// rule and channel are those of alerts; d is what became of them.
	rule, channel string
	d             *delivery.History
	failed        error
}

// stream is a source of choices of its own: what one part draws changes nothing for the others.
func (s Scenario) stream(n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, n)) //nolint:gosec // a seed that can be repeated is the point
}

// The streams of choices.
const (
	ofPlan = iota + 1
	ofJobs
	ofUsers
	ofNodes
)

// Run simulates a scenario. It is called inside of a bubble of testing/synctest.
func Run(ctx context.Context, s Scenario) (r Report, err error) {
	r.Seed = s.Seed
	if s.errors, err = provoke(s.Dir); err != nil {
		return r, err
	}
	w := &world{
		Scenario: s, dir: s.Dir, writing: make(chan struct{}, 1), store: newWall(), target: newTarget(s.Seed),
		receiver: &receiver{}, log: &logs{}, counts: map[Kind]int{},
	}
	defer w.ending.Wait()
	defer func() {
		for _, m := range w.members {
			if l := m.up(); l != nil && m.down(l) {
				m.kill(l)
			}
		}
	}()
	if err := w.found(ctx); err != nil {
		return r, err
	}
	for i := range nodes {
		m := &member{w: w, id: string(rune('a' + i))}
		w.members = append(w.members, m)
		if err := m.start(ctx); err != nil {
			return r, err
		}
	}
	time.Sleep(5 * time.Second)
	if err := w.create(ctx); err != nil {
		return r, err
	}
	began := time.Now()
	w.disturb(ctx)
	r.Took = time.Since(began)
	if err := errors.Join(w.failed, w.finish(ctx)); err != nil {
		return r, err
	}
	r.fill(w)
	return r, nil
}

// create adds the jobs.
func (w *world) create(ctx context.Context) error {
	if _, err := w.members[0].up().Groups.Create(ctx, limited, 2); err != nil {
		return err
	}
	if _, err := w.members[0].up().Groups.Create(ctx, bulk, 0); err != nil {
		return err
	}
	if err := w.alerting(ctx, w.members[0].up()); err != nil {
		return err
	}
	w.jobs = workload(w.stream(ofJobs))
	for _, j := range w.jobs {
		time.Sleep(200 * ms)
		as, err := w.members[0].up().Jobs.Create(ctx, j.definition, true)
		if err != nil {
			return fmt.Errorf("create %q: %w", j.Name, err)
		}
		j.stored(as)
		w.target.add(as.ID, j.work)
	}
	return nil
}

// disturb carries the plan out, while users work.
func (w *world) disturb(ctx context.Context) {
	calls, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { w.look(calls) })
	beside.Go(func() { (&users{w: w, random: w.stream(ofUsers)}).work(calls) })
	began := time.Now()
	blows := plan(w.stream(ofPlan), nodes, w.errors, w.For)
	var wg sync.WaitGroup
	for _, b := range blows {
		wg.Go(func() {
			time.Sleep(time.Until(began.Add(b.at)))
			w.blow(ctx, b)
		})
	}
	time.Sleep(time.Until(began.Add(w.For)))
	wg.Wait()
	stop()
	beside.Wait()
}

// open notes that a fault begins now, and the end that it is over.
func (w *world) open(f history.Fault) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.From = time.Now()
	f.Until = f.From
	w.faults = append(w.faults, f)
	at := len(w.faults) - 1
	w.log.note("%s %s begins", f.Kind, f.Node)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faults[at].Until = time.Now()
		w.log.note("%s %s is over", f.Kind, f.Node)
	}
}

func (w *world) count(k Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[k]++
}

func (w *world) exit(x history.Exit, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exits = append(w.exits, x)
	w.log.note("%s: %s", x.Node, why)
}

// said reports an error that the simulation itself has put into the mouth of the store.
func (w *world) said(err error) bool {
	for _, f := range w.errors {
		if errors.Is(err, f.err) {
			return true
		}
	}
	return false
}

// any is a node that can answer, by lot; nil where there is none.
func (w *world) any(random *rand.Rand) (*member, *life) {
	for _, i := range random.Perm(len(w.members)) {
		if l := w.members[i].up(); l != nil && l.clock.thawed() == nil {
			return w.members[i], l
		}
	}
	return nil, nil
}

// look reads what is final on the way, and the registry.
func (w *world) look(ctx context.Context) {
	random := w.stream(ofNodes)
	for n := 0; wait(ctx, 3*time.Second); n++ {
		_, l := w.any(random)
		if l == nil {
			continue
		}
		if members, err := l.Nodes.List(ctx); err == nil {
			w.mu.Lock()
			for _, m := range members {
				w.h.Cluster.Sights = append(w.h.Cluster.Sights, history.Member{ID: m.ID, Epoch: m.Epoch, Status: string(m.Status)})
			}
			w.mu.Unlock()
		}
		if n%3 != 0 {
			continue
		}
		rows, _, err := l.Executions.List(ctx, repository.ExecutionFilter{}, repository.Page{Limit: 30})
		if err != nil {
			continue
		}
		w.mu.Lock()
		for _, i := range random.Perm(len(rows))[:min(len(rows), 4)] {
			if r := row(rows[i]); r.Final() {
				w.h.Cluster.Looks = append(w.h.Cluster.Looks, r)
			}
		}
		w.mu.Unlock()
	}
}

// wait sleeps; false when the time of ctx is over.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
