package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// clusterTasks are those of one node, nodeTasks those of every node that ask the store.
var (
	clusterTasks = []string{"backfills", "deadlines", "forget", "groups", "limits", "places", "relay", "retention"}
	nodeTasks    = []string{"clock", "scan", "heartbeat", "reconcile", "dispatch"}
)

// mailbox notes the events that a node relays.
type mailbox struct {
	mu  sync.Mutex
	ids []string
}

// Publish implements maintenance.Publisher.
func (m *mailbox) Publish(_ context.Context, events []entity.Event) (taken []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		taken = append(taken, e.ID)
		if e.Topic == entity.TopicExecutions {
			m.ids = append(m.ids, e.ID)
		}
	}
	return taken, nil
}

func (m *mailbox) seen() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.ids)
}

// tasksOf are those of the cluster's tasks that the node is answerable for.
func tasksOf(n *node) (names []string) {
	n.t.Helper()
	rec := httptest.NewRecorder()
	n.Metrics.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, name := range clusterTasks {
		if strings.Contains(rec.Body.String(), fmt.Sprintf("ps_loop_age_seconds{loop=%q}", name)) {
			names = append(names, name)
		}
	}
	return names
}

// shown is who leads according to the overview.
func (n *node) shown() string {
	n.t.Helper()
	o, err := n.Overview.Overview(n.t.Context(), nil)
	require.NoError(n.t, err)
	return o.Leader
}

func TestOneNodeDoesTheTasksOfTheLeader(t *testing.T) {
	for name, change := range map[string]func(cfg *config.Config){
		"with Redis":              func(*config.Config) {},
		"the store alone decides": func(cfg *config.Config) { cfg.Redis = redistest.Gone(t) },
	} {
		t.Run(name, func(t *testing.T) {
			cfgs := peers(t, allRoles, allRoles)
			change(&cfgs[0])
			change(&cfgs[1])
			fails := func(context.Context, entity.Run) entity.Outcome { return entity.Failed(entity.ReasonError, "no") }
			var one, two mailbox
			first := startNode(t, cfgs[0], &script{reply: fails, publisher: &one})
			first.await("the first leads", func() bool { return slices.Equal(clusterTasks, tasksOf(first)) })
			second := startNode(t, cfgs[1], &script{reply: fails, publisher: &two})
			defer second.stop()
			job := first.create(newJob("fails", every(100*time.Millisecond)))
			first.await("failures are told", func() bool { return len(one.seen()) > 20 })
			require.Empty(t, two.seen(), "by one node")
			require.Empty(t, tasksOf(second), "and nobody misses them on the other")
			require.Equal(t, []string{"node-a", "node-a"}, []string{first.shown(), second.shown()})
			require.NoError(t, monitor.NotReady(second.Degraded(t.Context())))

			first.stop()
			second.await("the other goes on", func() bool { return len(two.seen()) > 10 })
			require.Equal(t, clusterTasks, tasksOf(second))
			require.Equal(t, "node-b", second.shown())
			_, err := second.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
			require.NoError(t, err)
			second.await("every failure is told", func() bool {
				rows := second.rows(job.ID)
				live := slices.ContainsFunc(rows, func(r *entity.Execution) bool { return !r.Status.Final() })
				return !live && len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(one.seen(), two.seen()))))) >= len(
					rows)
			})
		})
	}
}

// A leader that dies, or is cut off, gives nothing back: its lease has to end.
func TestALeaderThatIsCutOffIsReplaced(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	way := lay(t, &cfgs[0])
	first := startNode(t, cfgs[0], &script{})
	defer first.stop()
	first.await("the first leads", func() bool { return len(tasksOf(first)) > 0 })
	second := startNode(t, cfgs[1], &script{})
	defer second.stop()
	way.set(true)
	cut := second.clock.Monotonic()
	second.await("the second leads", func() bool {
		if len(tasksOf(second)) == 0 {
			return false
		}
		require.Empty(t, tasksOf(first), "one at a time")
		return true
	})
	lease := time.Duration(cfgs[0].Engine.LeaseMs) * time.Millisecond
	require.Less(t, second.clock.Monotonic()-cut, 2*lease, "a lease, and what a busy machine adds")
	require.Equal(t, "node-b", second.shown())
	way.set(false)
	first.await("the first is back", func() bool { return monitor.NotReady(first.Degraded(t.Context())) == nil })
	require.Empty(t, tasksOf(first))
	require.Equal(t, "node-b", first.shown())
}

// The gate of the lead in Redis is shut for a day, as after a jump of Redis' clock
// or by whoever can write there: the store decides all the same.
func TestAGateThatStaysShutStopsNoTask(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	first := startNode(t, cfgs[0], &script{})
	first.await("the first leads", func() bool { return len(tasksOf(first)) > 0 })
	second := startNode(t, cfgs[1], &script{})
	defer second.stop()
	client := redistest.Open(t, redistest.Config())
	parsed, err := mysql.ParseDSN(cfgs[0].Store.DSN)
	require.NoError(t, err)
	key := "{ps:" + strings.ReplaceAll(parsed.DBName, "_", "-") + ":lock}:cluster-duties"
	require.EqualValues(t, 1, client.Exists(t.Context(), key).Val(), "the gate is at %s", key)
	far := fmt.Sprintf("99999999999999999 %d somebody", time.Now().Add(24*time.Hour).UnixMilli())
	require.NoError(t, client.Set(t.Context(), key, far, 24*time.Hour).Err())
	defer client.Del(context.Background(), key)
	first.stop() // it gives the lead back; the gate stays shut
	began := time.Now()
	second.await("the second leads", func() bool { return len(tasksOf(second)) > 0 })
	lease := time.Duration(cfgs[0].Engine.LeaseMs) * time.Millisecond
	require.Less(t, time.Since(began), 4*lease, "seconds, not a day")
}

// An outage of the store leaves nobody in the lead, is told once by each task,
// and ends by itself.
func TestTheLeadOutlivesAnOutageOfTheStore(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	var nodes []*node
	var ways []*wire
	for i := range cfgs {
		ways = append(ways, lay(t, &cfgs[i]))
		nodes = append(nodes, startNode(t, cfgs[i], &script{}))
	}
	defer nodes[0].stop()
	defer nodes[1].stop()
	leaders := func() (count int) {
		for _, n := range nodes {
			if len(tasksOf(n)) > 0 {
				count++
			}
		}
		return count
	}
	nodes[0].await("one leads, and both plan", func() bool {
		return leaders() == 1 && len(nodes[0].Member.Partitions()) < entity.Partitions &&
			len(nodes[1].Member.Partitions()) > 0
	})
	for _, w := range ways {
		w.set(true)
	}
	nodes[0].await("nobody leads", func() bool { return leaders() == 0 })
	cut := nodes[0].clock.Monotonic()
	nodes[0].await("each task could fail more than once", func() bool {
		return nodes[0].clock.Monotonic()-cut > 6*time.Second
	})
	for _, w := range ways {
		w.set(false)
	}
	nodes[0].await("one leads again", func() bool { return leaders() == 1 })
	for _, n := range nodes {
		for _, task := range nodeTasks {
			n.await(task+" works again", func() bool { return len(n.log.With("a task works again", "task="+task)) > 0 })
		}
		for _, task := range slices.Concat(nodeTasks, clusterTasks) {
			require.LessOrEqual(t, len(n.log.With("a task fails", "task="+task)), 1, task)
			require.LessOrEqual(t, len(n.log.With("a task works again", "task="+task)), 1, task)
		}
	}
}

// A node that does not plan does not stand; a node that is alone leads.
func TestWhoStandsForElection(t *testing.T) {
	alone := startNode(t, newConfig(t), &script{publisher: &mailbox{}})
	require.Equal(t, clusterTasks, tasksOf(alone))
	require.Equal(t, "node-1", alone.shown())
	alone.stop()
	cfgs := peers(t, "api,executor", "scheduler")
	worker := startNode(t, cfgs[0], &script{})
	defer worker.stop()
	planner := startNode(t, cfgs[1], &script{})
	planner.await("it leads", func() bool { return worker.shown() == "node-b" })
	planner.stop()
	require.Empty(t, worker.shown(), "given back at once")
	require.Empty(t, tasksOf(worker))
	worker.await("that nobody leads is told", func() bool {
		return slices.ContainsFunc(worker.Degraded(t.Context()), func(t monitor.Trouble) bool {
			return t.Part == "leader" && !t.Blocks
		})
	})
}
