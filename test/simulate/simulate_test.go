//go:build !race

package simulate_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/simulate"
)

// gateSeeds are the seeds that each change must pass, gateFor how long each is disturbed: three hours together.
var gateSeeds = []uint64{1, 2, 3, 4, 5}

const gateFor = 36 * time.Minute

// gateEach is how often the gate has each kind at least.
const gateEach = 5

// TestASeedOfTheSimulationBreaksNothing runs the seeds of the gate, or what make simulate asks for.
func TestASeedOfTheSimulationBreaksNothing(t *testing.T) {
	seeds, lasts, each := gateSeeds, gateFor, gateEach
	if asked := ask(t); asked != nil {
		seeds, lasts, each = asked.Seeds, asked.For, asked.Each
	}
	simulated(t, seeds, lasts, each)
}

// atOnce is how many seeds share the processors: five of one length on two would leave one of them idle at the end.
const atOnce = 5

// simulated runs seeds.
func simulated(t *testing.T, seeds []uint64, lasts time.Duration, each int) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a store takes some ten megabytes: memory is not short, time is
	var mu sync.Mutex
	counts, virtual, fires := map[simulate.Kind]int{}, time.Duration(0), 0
	var all sync.WaitGroup
	place := make(chan struct{}, atOnce)
	for _, seed := range seeds {
		all.Go(func() {
			place <- struct{}{}
			defer func() { <-place }()
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				r := one(t, seed, lasts)
				mu.Lock()
				defer mu.Unlock()
				for k, n := range r.Counts {
					counts[k] += n
				}
				virtual += r.Took
				fires += r.Rows
			})
		})
	}
	all.Wait()
	t.Logf("%d rows in %s of virtual time", fires, virtual.Round(time.Minute))
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("  %-62s %5d times", k, counts[k])
	}
	if t.Failed() {
		return
	}
	kinds, err := simulate.Kinds(t.TempDir())
	require.NoError(t, err)
	for _, k := range kinds {
		require.GreaterOrEqual(t, counts[k], each, "%q came too seldom to say anything of it", k)
	}
}

// one simulates a seed in a bubble, whose time goes on when all of it waits.
func one(t *testing.T, seed uint64, lasts time.Duration) (r simulate.Report) {
	t.Helper()
	dir := folder(t)
	began := time.Now()
	var passed atomic.Int64
	var over atomic.Bool
	defer over.Store(true)
	go guard(&passed, &over, seed)
	var err error
	synctest.Test(t, func(t *testing.T) {
		var ticks sync.WaitGroup
		defer ticks.Wait()
		defer over.Store(true)
		ticks.Go(func() {
			for !over.Load() {
				time.Sleep(time.Second)
				passed.Add(1)
			}
		})
		r, err = simulate.Run(t.Context(), simulate.Scenario{Seed: seed, For: lasts, Dir: dir})
	})
	t.Logf("%s\nin %s of real time", r, time.Since(began).Round(time.Second))
	if err == nil && len(r.Violations) == 0 {
		return r
	}
	keep(t, r)
	require.NoError(t, err, "seed %d", seed)
	for i, v := range r.Violations {
		if i == shown {
			t.Errorf("and %d more", len(r.Violations)-i)
			break
		}
		prooftest.Violation(t, "seed %d: %s: %s", seed, v.Rule, v.Detail)
	}
	return r
}

// shown is how many violations are printed.
const shown = 20

// keep writes history and log of a red run: a seed repeats what is done to the nodes, and not the order of goroutines.
func keep(t *testing.T, r simulate.Report) {
	t.Helper()
	dir, err := filepath.Abs("../../.cache/simulate")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, fmt.Sprintf("history-%d.json.gz", r.Seed))
	require.NoError(t, kept.Write(file, r.Kept))
	require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("log-%d.txt", r.Seed)), r.Log, 0o600))
	t.Logf("the history is kept, and the log beside it: go run ./test/history/judge %s", file)
}

// folder is one in memory where the machine has that: nothing in it outlives the test.
func folder(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "simulate")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// stands is how long virtual time may stand still.
const stands = 3 * time.Minute

// guard ends the test when virtual time stands still: a goroutine waits for a mutex whose holder waits for time to
// pass, or turns without end.
func guard(passed *atomic.Int64, over *atomic.Bool, seed uint64) {
	last, since := int64(-1), time.Now()
	for ; !over.Load(); time.Sleep(time.Second) {
		if now := passed.Load(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > stands {
			buf := make([]byte, 64<<20)
			_, _ = os.Stderr.Write(buf[:runtime.Stack(buf, true)])
			panic(fmt.Sprintf("seed %d: virtual time stands still", seed))
		}
	}
}
