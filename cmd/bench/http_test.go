package bench

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// called runs a bench of HTTP jobs, after which nothing may be left.
func called(t *testing.T, hosts int, settings map[string]string) report.Result {
	t.Helper()
	settings["dataDir"] = t.TempDir()
	cfg, _, err := config.Load(config.Options{Flags: settings})
	require.NoError(t, err)
	r, err := Product().Run(t.Context(), cfg, Options{
		Name: "http", Duration: 2 * time.Second, Jobs: 60, Hosts: hosts, Progress: t.Output(),
	})
	require.NoError(t, err)
	left, err := os.ReadDir(cfg.DataDir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, 5*60, r.Planned, "three seconds of warm-up, and two")
	require.Zero(t, r.Lost+r.Doubled)
	require.GreaterOrEqual(t, r.LatenessMs.P50, 0.0, "nothing calls early")
	require.Positive(t, r.HTTP.CPUMicros)
	require.Equal(t, hosts, r.HTTP.Hosts)
	require.Len(t, r.PerNode, 1, "the node is a process of its own")
	return r
}

func TestASmallBenchOfCallsMissesNone(t *testing.T) {
	t.Parallel() // most of it is waiting
	called(t, 1, map[string]string{})
}

// A configuration that keeps jobs away from this machine does not keep them from the target.
func TestCallsOfSeveralHosts(t *testing.T) {
	t.Parallel()
	r := called(t, 3, map[string]string{"executor.http.allowPrivate": "false", "executor.slots": "100"})
	require.Equal(t, 100, r.Slots)
}

func TestCallsOfANodeOnMySQL(t *testing.T) {
	t.Parallel()
	dbtest.NeedMySQL(t)
	called(t, 1, map[string]string{"store.driver": config.DriverMySQL, "store.dsn": dbtest.Migrated(t).DSN})
}

func TestOnlyWholeSecondsAreCalled(t *testing.T) {
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{"dataDir": t.TempDir()}})
	require.NoError(t, err)
	for says, o := range map[string]Options{
		"whole seconds": {Duration: 1500 * time.Millisecond},
		"1 to 250":      {Hosts: 251},
		"at least 0":    {Jobs: -1},
		"one node":      {Nodes: 2},
	} {
		o.Name, o.Progress = "http", t.Output()
		_, err := Product().Run(t.Context(), cfg, o)
		require.ErrorContains(t, err, says)
	}
}
