package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// peers are configurations of nodes on one MariaDB.
func peers(t testing.TB, roles ...string) []config.Config {
	t.Helper()
	dbtest.NeedMySQL(t)
	return peersOn(t, dbtest.Migrated(t).DSN, roles...)
}

// peersOn are peers on a store of the test.
func peersOn(t testing.TB, dsn string, roles ...string) []config.Config {
	t.Helper()
	redistest.NeedRedis(t)
	out := make([]config.Config, len(roles))
	for i, r := range roles {
		flags := map[string]string{
			"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "0",
			"node.id":               "node-" + string(rune('a'+i)),
			"engine.scanIntervalMs": "100", "engine.horizonMs": "1000", "engine.beatMs": "300", "engine.leaseMs": "4500",
			"profile": "cluster", "store.dsn": dsn, "server.roles": r, "redis.addrs": strings.Join(redistest.Config().Addrs,
				","),
		}
		cfg, _, err := config.Load(config.Options{Flags: flags})
		require.NoError(t, err)
		out[i] = cfg
	}
	return out
}

const allRoles = "api,scheduler,executor"

// nodesOf are the nodes that ran the job, each once.
func nodesOf(rows []*entity.Execution) []string {
	var out []string
	for _, r := range rows {
		if r.NodeID != "" && !slices.Contains(out, r.NodeID) {
			out = append(out, r.NodeID)
		}
	}
	slices.Sort(out)
	return out
}

// met reports whether each of the nodes sees all of them at work. A node that starts
// stands by until it knows that its store is no copy, and takes no work so long.
func met(nodes []*node) bool {
	return !slices.ContainsFunc(nodes, func(n *node) bool {
		seen := n.Member.Nodes()
		return len(seen) != len(nodes) ||
			slices.ContainsFunc(seen, func(o entity.Node) bool { return o.Has(entity.RoleStandby) })
	})
}

// settled waits until the nodes have divided the partitions among them.
func settled(nodes []*node) {
	nodes[0].t.Helper()
	nodes[0].await("the partitions are divided", func() bool {
		sum := 0
		for _, n := range nodes {
			sum += len(n.Member.Partitions())
		}
		return met(nodes) && sum == entity.Partitions
	})
}

func TestThreeNodesShareTheWorkAndSurviveOne(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles, allRoles)
	var nodes []*node
	for _, cfg := range cfgs {
		nodes = append(nodes, startNode(t, cfg, &script{}))
	}
	defer nodes[1].stop()
	defer nodes[2].stop()
	var jobs []*entity.Job
	for i := range 30 {
		jobs = append(jobs, nodes[0].create(newJob(string(rune('A'+i)), every(500*time.Millisecond))))
	}
	ranOn := func(n *node) int { return len(n.script.runs()) }
	require.Eventually(t, func() bool {
		return ranOn(nodes[0]) > 20 && ranOn(nodes[1]) > 20 && ranOn(nodes[2]) > 20
	}, within, 50*time.Millisecond)
	nodes[0].stop()
	before := ranOn(nodes[1]) + ranOn(nodes[2])
	require.Eventually(t, func() bool { return ranOn(nodes[1])+ranOn(nodes[2]) > before+200 }, within, 50*time.Millisecond)
	for _, j := range jobs {
		rows := nodes[1].rows(j.ID)
		var last time.Time
		for _, r := range rows {
			require.NotEqual(t, last, r.ScheduledTime, "one row for a fire")
			if !last.IsZero() {
				require.Equal(t, 500*time.Millisecond, r.ScheduledTime.Sub(last), "no fire is missing")
			}
			last = r.ScheduledTime
		}
		require.Greater(t, len(rows), 5)
	}
}

func TestRolesMayBeSplitOverProcesses(t *testing.T) {
	cfgs := peers(t, "api,scheduler", "executor")
	scheduler := startNode(t, cfgs[0], &script{})
	defer scheduler.stop()
	executor := startNode(t, cfgs[1], &script{})
	defer executor.stop()
	j := scheduler.create(newJob("split", every(200*time.Millisecond)))
	require.Eventually(t, func() bool { return len(executor.script.runs()) > 5 }, within, 20*time.Millisecond)
	require.Empty(t, scheduler.script.runs())
	require.Equal(t, []string{"node-b"}, nodesOf(scheduler.rows(j.ID)))
	require.Empty(t, executor.Member.Partitions())
	require.Len(t, scheduler.Member.Partitions(), entity.Partitions)
}

func TestNewsReachTheOtherNodesAtOnce(t *testing.T) {
	cfgs := peers(t, "api", "scheduler,executor")
	cfgs[1].Engine.ScanIntervalMs, cfgs[1].Engine.HorizonMs = 30_000, 40_000
	edge, worker := startNode(t, cfgs[0], &script{}), startNode(t, cfgs[1], &script{reply: untilStopped})
	defer edge.stop()
	defer worker.stop()
	require.Eventually(t, func() bool {
		return len(worker.Member.Partitions()) == entity.Partitions
	}, within, 10*time.Millisecond)

	// The worker would not look for half a minute, and a busy machine takes its time.
	const soon = 30 * time.Second
	j := edge.create(newJob("soon", every(300*time.Millisecond)))
	require.Eventually(t, func() bool { return len(worker.script.runs()) > 0 }, soon, 10*time.Millisecond)
	_, err := edge.Jobs.Pause(t.Context(), j.ID, entity.Pause{})
	require.NoError(t, err)
	for _, row := range edge.rows(j.ID) {
		if !row.Status.Final() {
			require.NoError(t, edge.Executions.Cancel(t.Context(), row.ID))
		}
	}
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(edge.rows(j.ID), func(r *entity.Execution) bool { return !r.Status.Final() })
	}, soon, 10*time.Millisecond, "a cancel is heard, not waited for")
	id := edge.trigger(edge.create(newJob("by hand", nil)).ID)
	require.Eventually(t, func() bool { return edge.row(id).Status == entity.StatusRunning }, soon, 10*time.Millisecond)
}

func TestTheClusterWorksWithoutRedis(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	for i := range cfgs {
		cfgs[i].Redis = redistest.Gone(t)
	}
	a, b := startNode(t, cfgs[0], &script{}), startNode(t, cfgs[1], &script{})
	defer a.stop()
	defer b.stop()
	for i := range 26 { // of eight, one in 128 times all belong to partitions of one node
		a.create(newJob(string(rune('A'+i)), every(time.Second)))
	}
	require.Eventually(t, func() bool {
		return len(a.script.runs()) > 5 && len(b.script.runs()) > 5
	}, within, 20*time.Millisecond)
}
