package crash_test

import (
	"crypto/rand"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var (
	long = flag.Bool("crash.long", false,
		"the long form: CRASH_ROUNDS random kills (100), every failpoint three times, on every store")
	seed = flag.Int64("crash.seed", 0, "repeat the random choices of a former run")
)

// TestCrash kills the server at random moments and at every failpoint, and
// checks the history that can be seen from outside.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test and make crash")
		return
	}
	binary, err := rig.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	plan := crash.Plan{Kills: 4, EachPoint: 1, Seed: *seed}
	if *long {
		plan = crash.Plan{Kills: rounds(t), EachPoint: 3, Seed: *seed, MaximalEach: 3}
	}
	t.Run("SQLite", func(t *testing.T) { run(t, binary, nil, plan) })
	t.Run("MySQL", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		dsn := os.Getenv("PS_TEST_MYSQL_DSN")
		if !*long {
			plan.Kills, plan.EachPoint = 3, 0
		}
		run(t, binary, []string{"PS_STORE_DRIVER=mysql", "PS_STORE_DSN=" + scratchDatabase(t, dsn)}, plan)
	})
}

func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CRASH_ROUNDS")
	if text == "" {
		return 100
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "CRASH_ROUNDS")
	return n
}

func run(t *testing.T, binary string, env []string, plan crash.Plan) {
	t.Helper()
	dir := t.TempDir()
	addr, err := rig.FreeAddr(t.Context())
	require.NoError(t, err)
	password := "crash-" + rand.Text()
	node := &rig.Node{Binary: binary, Addr: addr, Env: append(env,
		"PS_DATA_DIR="+filepath.Join(dir, "data"), "PS_AUTH_INITIAL_ADMIN_PASSWORD="+password, "PS_NODE_ID=crash")}
	target, err := crash.NewTarget(filepath.Join(dir, "calls.jsonl"))
	require.NoError(t, err)
	server := target.Serve()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = target.Close()
	})
	driver := crash.NewDriver(node, &crash.Client{Base: "http://" + addr}, target, server.URL, plan, t.Logf)
	report, err := driver.Run(t.Context(), password)
	require.NoError(t, err, node.Stderr())
	t.Log(report.String())
	for _, v := range report.Violations {
		prooftest.Violation(t, "%s: %s", v.Rule, v.Detail)
	}
	require.Zero(t, report.ExitCode, "a graceful stop ends with 0")
}

// scratchDatabase makes a database for this run alone.
func scratchDatabase(t *testing.T, server string) string {
	t.Helper()
	dsn, drop, err := rig.ScratchDatabase(t.Context(), server)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	return dsn
}
