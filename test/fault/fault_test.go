package fault_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var (
	long = flag.Bool("fault.long", false,
		"the long form: FAULT_MINUTES (10) of all faults, with a store of its own that is killed too")
	storeSteps = flag.Bool("fault.storeclock", os.Getenv("SERVER") != "mysql",
		"step the store's clock, too, in the long form; by default where the store is no MySQL")
	flows = flag.Bool("fault.flows", true, "let workflows run, too, in the long form")
	redis = flag.Bool("fault.redis", false, "run the nodes under the cluster profile, with Redis")
)

// TestFault disturbs a cluster in every way and checks the history that can be
// seen from outside.
func TestFault(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test and make fault")
		return
	}
	test := &fault.Test{
		Terms: fault.Terms{
			Seed: number(t, "FAULT_SEED", time.Now().UnixNano()), Nodes: 3, Rounds: 12,
			Longest: 5 * time.Second, Outage: 15 * time.Second,
		},
		For: 18 * time.Second, Size: crash.Size{Copies: 1, Fill: 10}, Logf: t.Logf,
	}
	dir := folder(t, test.Terms.Seed)
	if *long {
		test.Terms.Rounds, test.Terms.Longest, test.Terms.Outage = 2000, 4*time.Second, 15*time.Second
		test.Terms.Most = 9
		test.For = time.Duration(number(t, "FAULT_MINUTES", 10)) * time.Minute
		test.Size = crash.Size{Copies: 3, Fill: 60, Once: 60}
		if *flows { // their rows come in the place of those of small jobs
			test.Size.Fill, test.Size.Small, test.Terms.Flows = 16, true, true
		}
		var err error
		test.Worker, err = rig.BuildWorker(t.Context(), dir, rig.ShopWorker)
		require.NoError(t, err)
	}
	options := fault.Options(dir, test.Terms.Nodes)
	options.Handlers = [][]string{{"first"}, {"last"}, {"last"}}
	store(t, test, &options)
	var err error
	options.Binary, err = rig.Build(t.Context(), dir)
	require.NoError(t, err)
	test.Terms.Kinds = fault.Kinds(test.Server != nil, options.Redis != "")
	if !*storeSteps {
		test.Terms.Kinds = slices.DeleteFunc(test.Terms.Kinds, func(k fault.Kind) bool { return k == fault.StoreStep })
	}
	test.Size.Long, test.Size.Wide, test.Size.Async = true, true, true
	test.Size.Flows, test.Size.Seed, test.Size.Pace = *flows && *long, uint64(test.Terms.Seed), 2
	test.Size.Handlers = map[string][]string{"first": {"node-0"}, "last": {"node-1", "node-2"}}
	run(t, test, options)
}

// run carries a test out and shows what is broken.
func run(t *testing.T, test *fault.Test, options rig.Options) {
	t.Helper()
	var err error
	test.Size.Commands = filepath.Join(options.Dir, "commands.ledger")
	require.NoError(t, os.WriteFile(test.Size.Commands, nil, 0o600))
	test.Target, err = crash.NewTarget(filepath.Join(options.Dir, "calls.jsonl"))
	require.NoError(t, err)
	server := test.Target.Serve()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = test.Target.Close()
	})
	test.URL = server.URL
	test.Rig, err = rig.NewRig(t.Context(), options)
	t.Cleanup(test.Rig.Close)
	require.NoError(t, err)
	report, err := test.Run(t.Context())
	require.NoError(t, err, "seed %d", test.Terms.Seed)
	t.Log(report.String())
	for _, missed := range report.Missed() {
		t.Errorf("too little of %s", missed)
	}
	require.LessOrEqual(t, report.Maximal.Share(report.Rows), 5.0, "maximal definitions are a small part of the load")
	for i, v := range report.Violations {
		if i == shown {
			t.Errorf("and %d more, in report.txt", len(report.Violations)-i)
			break
		}
		prooftest.Violation(t, "%s: %s", v.Rule, v.Detail)
	}
}

// shown is how many violations are printed.
const shown = 40

// store names the store, and starts a private one for the long form.
func store(t *testing.T, test *fault.Test, o *rig.Options) {
	t.Helper()
	dsn := os.Getenv("PS_TEST_MYSQL_DSN")
	if *long || *redis {
		root, err := filepath.Abs("../..")
		require.NoError(t, err)
		var more []string
		if *redis {
			more = []string{"redis"}
		}
		startServer := rig.StartServer
		if *storeSteps {
			startServer = rig.StartServerWithClock
		}
		test.Server, err = startServer(t.Context(), root,
			filepath.Join(root, ".cache/services", fmt.Sprintf("fault.%d", os.Getpid())), more...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, test.Server.Down(context.Background())) })
		o.DSN, o.Redis = test.Server.DSN, test.Server.Redis
		return
	}
	dbtest.NeedMySQL(t)
	dsn, drop, err := rig.ScratchDatabase(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	o.DSN = dsn
}

// folder is kept when the run fails.
func folder(t *testing.T, seed int64) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("../../.cache/fault", strconv.FormatInt(seed, 10)))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d; rows, calls, faults and the nodes' logs are kept in %s", seed, dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	return dir
}

// number reads a setting; there is a default.
func number(t *testing.T, name string, fallback int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" || text == "0" {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, name)
	return n
}
