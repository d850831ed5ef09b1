package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// The kinds that disturb workers. They come beside the rounds, to each worker at its own time: a lease of workers is
// longer than a round.
const (
	WorkerKill   Kind = "kill -9 a worker"
	WorkerStop   Kind = "stop a worker gracefully"
	WorkerFreeze Kind = "freeze a worker"
	WorkerCut    Kind = "cut a worker from all nodes"
	WorkerHole   Kind = "black hole between a worker and all nodes"
	WorkerDoor   Kind = "cut a worker from one node"
)

// WorkerKinds lists them.
func WorkerKinds() []Kind {
	return []Kind{WorkerKill, WorkerStop, WorkerFreeze, WorkerCut, WorkerHole, WorkerDoor}
}

const (
	// crewName is the worker group, crewSize how many workers it has.
	crewName = "shop"
	crewSize = 4
	// longestTrouble of a worker outlives its lease of 20 seconds (delivery.TimingFor).
	longestTrouble = 28 * time.Second
	// longestCalm is the longest rest of a worker.
	longestCalm = 12 * time.Second
)

// hire makes the workers, and returns their ids.
func (t *Test) hire(ctx context.Context, c *crash.Client) ([]string, error) {
	token, err := c.CreateWorkerGroup(ctx, crewName)
	if err != nil {
		return nil, fmt.Errorf("create the worker group: %w", err)
	}
	for i := range crewSize {
		w, err := t.Rig.Hire(t.Worker, crewName, token, fmt.Sprintf("w%d", i), crash.WorkerHandler)
		if err != nil {
			return nil, err
		}
		if _, err = w.Start(); err != nil {
			return nil, err
		}
	}
	var up map[string]string
	for until := time.Now().Add(healBound); len(up) < crewSize; {
		if time.Now().After(until) || !rig.Sleep(ctx, again) {
			return nil, fmt.Errorf("%d of %d workers are there within %s", len(up), crewSize, healBound)
		}
		if up, err = c.Workers(ctx); err != nil {
			return nil, err
		}
	}
	for _, w := range t.Rig.Workers {
		w.ID = up[w.Instance]
	}
	return slices.Collect(maps.Values(up)), nil
}

// disturbCrew has each worker meet one fault after another, until ctx ends. Then all run and reach the nodes again.
func (s *Striker) disturbCrew(ctx context.Context, seed int64) error {
	errs := make([]error, len(s.rig.Workers))
	var wg sync.WaitGroup
	for i, w := range s.rig.Workers {
		wg.Go(func() {
			d := &drawer{Terms: Terms{Kinds: WorkerKinds()}, random: rand.New(rand.NewPCG(uint64(seed), uint64(100+i)))} //nolint:gosec,lll // a seed that can be repeated is the point
			for errs[i] == nil && rig.Sleep(ctx, d.between(time.Second, longestCalm)) {
				errs[i] = s.worker(ctx, w, d)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// worker does one thing to a worker: half of them outlive no lease.
func (s *Striker) worker(ctx context.Context, w *rig.Worker, d *drawer) error {
	kind, span := d.next(), d.between(time.Second, longestTrouble/4)
	if d.random.IntN(2) == 0 {
		span = d.between(longestTrouble/2, longestTrouble)
	}
	f := history.Fault{Kind: string(kind), Node: w.ID, Worker: true, Harm: map[Kind]history.Harm{
		WorkerKill: history.HarmDeath, WorkerStop: history.HarmStop, WorkerFreeze: history.HarmFreeze,
		WorkerCut: history.HarmCut, WorkerHole: history.HarmCut, WorkerDoor: history.HarmHiccup,
	}[kind]}
	at := s.open(f)
	defer s.over(at)
	s.mu.Lock()
	s.counts[kind]++
	s.mu.Unlock()
	switch kind {
	case WorkerKill:
		w.Kill()
		rig.Sleep(ctx, span)
	case WorkerStop:
		began := time.Now()
		code := w.Stop()
		s.mu.Lock()
		s.exits = append(s.exits, history.Exit{Node: w.ID, At: began, Code: code})
		s.mu.Unlock()
		rig.Sleep(ctx, span/4)
	case WorkerFreeze:
		w.Freeze()
		rig.Sleep(ctx, span)
		w.Thaw()
	case WorkerCut:
		w.Set(rig.Cut)
		rig.Sleep(ctx, span)
	case WorkerHole:
		w.Set(rig.BlackHole)
		rig.Sleep(ctx, span)
	case WorkerDoor:
		w.Ways[d.random.IntN(len(w.Ways))].Set(rig.Cut)
		rig.Sleep(ctx, span)
	}
	w.Set(rig.Pass)
	fell, err := w.Start()
	if fell {
		s.mu.Lock()
		s.exits = append(s.exits, history.Exit{Node: w.ID, At: time.Now(), Code: -1})
		s.mu.Unlock()
	}
	return err
}
