package bench

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// shared is the configuration of nodes of a cluster with a short lease. Tests
// of clusters mostly wait, and do so side by side.
func shared(t *testing.T) config.Config {
	t.Helper()
	t.Parallel()
	dbtest.NeedMySQL(t)
	redistest.NeedRedis(t)
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "profile": "cluster", "store.dsn": dbtest.Migrated(t).DSN,
		"redis.addrs":    strings.Join(redistest.Config().Addrs, ","),
		"executor.slots": "256", "engine.beatMs": "300", "engine.leaseMs": "1800",
	}})
	require.NoError(t, err)
	cfg.Redis.MasterName = redistest.Config().MasterName
	return cfg
}

// several runs a bench of several nodes, after which nothing may be left.
func several(t *testing.T, o Options) (r report.Result) {
	t.Helper()
	cfg := shared(t)
	o.Progress = t.Output()
	if o.Duration == 0 {
		o.Duration = time.Second
	}
	r, err := Product().Run(t.Context(), cfg, o)
	require.NoError(t, err)
	left, err := os.ReadDir(cfg.DataDir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Zero(t, r.Lost)
	require.Zero(t, r.Doubled)
	return r
}

func TestThreeProcessesStartEverythingOnce(t *testing.T) {
	r := several(t, Options{Name: "stampede", Nodes: 3, Jobs: 900})
	require.Equal(t, 900, r.Planned)
	require.Len(t, r.PerNode, 3)
	starts := 0
	for _, n := range r.PerNode {
		require.Positive(t, n.Starts, "every node takes part")
		require.Positive(t, n.RSSMb)
		starts += n.Starts
	}
	require.Equal(t, 900, starts)
	require.Positive(t, r.Probe.Calls)
	require.Zero(t, r.Probe.Errors)
}

func TestAKilledNodeIsTakenOver(t *testing.T) {
	r := several(t, Options{Name: "failover", Rounds: 1, Rate: 100})
	require.Positive(t, r.Failover.Partitions)
	// A beat is late after 750 ms, and the last one was at most 300 ms before the end.
	require.GreaterOrEqual(t, r.Failover.Gap.P50, 400.0, "not before its beats are late")
	require.GreaterOrEqual(t, r.Failover.Retried.Max, 700.0, "nor its runs before its death is proven")
	require.Positive(t, r.Rows.Retried)
	require.Equal(t, r.Planned, r.Rows.Rows)
}

func TestAFrozenNodeIsTakenOverAndItsResultsDoNotStand(t *testing.T) {
	r := several(t, Options{Name: "failover", Freeze: true, Rounds: 1, Rate: 100})
	require.NotNil(t, r.Failover.Gap)
	require.Zero(t, r.Rows.Stale)
}

func TestARollingRestartLosesNothing(t *testing.T) {
	r := several(t, Options{Name: "rolling", Nodes: 2, Rounds: 1, Rate: 50})
	require.Equal(t, 2, r.Rolling.Restarts)
	require.Positive(t, r.Rolling.Stop.Max)
	require.Equal(t, r.Planned, r.Rows.Rows)
	for _, n := range r.PerNode {
		require.True(t, n.Restarted)
	}
}

func TestLatenessOfTwoNodesBesideSleepersAndHistory(t *testing.T) {
	r := several(t, Options{Name: "lateness", Nodes: 2, Rate: 50, Jobs: 200, History: 300})
	require.Equal(t, []int{2, 200, 300}, []int{r.Nodes, r.Jobs, r.History})
	require.NotNil(t, r.LatenessMs)
	require.Positive(t, r.Planned)
}

func TestABenchThatIsGivenUpLeavesNothing(t *testing.T) {
	cfg := shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	_, err := Product().Run(ctx, cfg, Options{Name: "rolling", Nodes: 2, Rate: 50, Progress: t.Output()})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	left, err := os.ReadDir(cfg.DataDir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestIdleServersAreMeasuredOneByOne(t *testing.T) {
	r := several(t, Options{Name: "idle", Nodes: 2, Jobs: 100})
	require.Len(t, r.PerNode, 2)
	for _, n := range r.PerNode {
		require.Positive(t, n.RSSMb)
		require.NotEmpty(t, n.QueriesPerSecond)
	}
}

func TestSeveralNodesNeedWhatNodesShare(t *testing.T) {
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{"dataDir": t.TempDir()}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		options Options
		says    string
	}{
		"on SQLite":     {Options{Name: "lateness", Nodes: 2}, "redis.addrs"},
		"alone":         {Options{Name: "failover", Nodes: 1}, "at least two"},
		"not made so":   {Options{Name: "api", Nodes: 3}, "one node"},
		"too many":      {Options{Name: "stampede", Nodes: 33}, "1 to 32"},
		"negative":      {Options{Name: "lateness", History: -1}, "--history"},
		"not restarted": {Options{Name: "restart-store"}, "--restart-command"},
	} {
		c.options.Progress = t.Output()
		_, err := Product().Run(t.Context(), cfg, c.options)
		require.ErrorContains(t, err, c.says, name)
	}
}
