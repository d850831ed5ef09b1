//go:build !race

package simulate

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
)

var (
	seedFlag  = flag.Uint64("simulate.seed", 1, "seed")
	hoursFlag = flag.Float64("simulate.hours", 0.1, "hours")
)

func TestSimulate(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "simulate")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	errors, err := provoke(dir)
	require.NoError(t, err)
	var r Report
	real := time.Now()
	var passed atomic.Int64
	var over atomic.Bool
	go func() {
		for last, idle := int64(-1), 0; !over.Load(); time.Sleep(time.Second) {
			if now := passed.Load(); now != last {
				last, idle = now, 0
			} else if idle++; idle == 30 {
				debug.SetTraceback("all")
				buf := make([]byte, 64<<20)
				_ = os.WriteFile("/tmp/x/stacks.txt", buf[:runtime.Stack(buf, true)], 0o600)
				panic("virtual time stands still")
			}
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		var ticks sync.WaitGroup
		ticks.Go(func() {
			for !over.Load() {
				time.Sleep(time.Second)
				passed.Add(1)
			}
		})
		defer ticks.Wait()
		defer over.Store(true)
		r, err = simulation(t.Context(), Scenario{
			Seed: *seedFlag, For: time.Duration(*hoursFlag * float64(time.Hour)), Dir: dir,
			Errors: errors,
		})
	})
	t.Log("real time ", time.Since(real))
	require.NoError(t, err)
	_ = os.WriteFile(filepath.Join("/tmp/x", "sim.log"), r.Log, 0o600)
	require.NoError(t, kept.Write("/tmp/x/history.json.gz", r.Kept))
	t.Log(r.String())
	require.Empty(t, r.Violations)
}
