package dispatch_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// No goroutine of a node outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is three nodes or so on one store and one clock.
type cluster struct {
	t     *testing.T
	nodes []*enginetest.Node
	jobs  int
}

// newCluster is nodes node-1, node-2 and so on, whose loops do not run yet.
func newCluster(t *testing.T, options ...enginetest.Options) *cluster {
	t.Helper()
	first := enginetest.New(t, options[0])
	return &cluster{t: t, nodes: first.Join(t, options[1:]...)}
}

func three(t *testing.T) *cluster {
	t.Helper()
	return newCluster(t, enginetest.Options{}, enginetest.Options{}, enginetest.Options{})
}

// start lets the nodes claim and run.
func (c *cluster) start() *cluster {
	for _, n := range c.nodes {
		n.Start(c.t)
	}
	return c
}

// job stores a job; change says what is special.
func (c *cluster) job(change func(j *entity.Job)) *entity.Job {
	c.t.Helper()
	c.jobs++
	return c.nodes[0].Add(c.t, enginetest.Job("job "+strconv.Itoa(c.jobs), change))
}

func by(s entity.RoutingStrategy) func(j *entity.Job) {
	return func(j *entity.Job) { j.Routing.Strategy = s }
}

func labelled(key, value string) func(j *entity.Job) {
	return func(j *entity.Job) { j.Routing.Labels = map[string]string{key: value} }
}

// fire triggers a job, on one node after the other.
func (c *cluster) fire(jobID string, times int) (execs []*entity.Execution) {
	c.t.Helper()
	for i := range times {
		execs = append(execs, c.nodes[i%len(c.nodes)].Trigger(c.t, jobID)...)
	}
	return execs
}

// await lets time pass until something has happened.
func (c *cluster) await(what string, happened func() bool) {
	c.t.Helper()
	enginetest.Await(c.t, func() bool {
		if happened() {
			return true
		}
		c.nodes[0].Clock.Advance(250 * time.Millisecond)
		return false
	}, what)
}

// became waits until executions have a status, and returns them as they are then.
func (c *cluster) became(status entity.Status, execs ...*entity.Execution) []*entity.Execution {
	c.t.Helper()
	var now []*entity.Execution
	c.await("the runs become "+string(status), func() bool {
		now = c.read(execs)
		return !slices.ContainsFunc(now, func(e *entity.Execution) bool { return e.Status != status })
	})
	return now
}

func (c *cluster) read(execs []*entity.Execution) []*entity.Execution {
	c.t.Helper()
	out := make([]*entity.Execution, len(execs))
	for i, exec := range execs {
		out[i] = c.nodes[0].Execution(c.t, exec.ID)
	}
	return out
}

// fill takes slots of a node, once its claim has seen that nothing waits for them.
func (c *cluster) fill(n *enginetest.Node, slots entity.Slots) entity.Slots {
	c.t.Helper()
	enginetest.Await(c.t, func() bool { return n.Runner.Reserve(slots) == slots }, "the slots can be taken")
	return slots
}

// ran waits until the executions have succeeded and returns where; the nodes must
// have run them indeed.
func (c *cluster) ran(execs []*entity.Execution) []string {
	c.t.Helper()
	at := nodesOf(c.became(entity.StatusSuccess, execs...))
	for _, n := range c.nodes {
		for _, run := range n.Script.Runs() {
			if i := slices.IndexFunc(execs, func(e *entity.Execution) bool { return e.ID == run.Execution.ID }); i >= 0 {
				require.Equal(c.t, at[i], n.ID())
			}
		}
	}
	return at
}

// one runs a job and waits, so that the next choice knows of it.
func (c *cluster) one(jobID string, on int) string {
	c.t.Helper()
	return c.ran(c.nodes[on].Trigger(c.t, jobID))[0]
}

func nodesOf(execs []*entity.Execution) []string {
	out := make([]string, len(execs))
	for i, exec := range execs {
		out[i] = exec.NodeID
	}
	return out
}

// queues are those in which stored executions wait.
func (c *cluster) queues(execs []*entity.Execution) []entity.Queue {
	c.t.Helper()
	out := make([]entity.Queue, len(execs))
	for i, exec := range c.read(execs) {
		out[i] = exec.Claim.Queue()
	}
	return out
}

func tally(names []string) map[string]int {
	out := map[string]int{}
	for _, name := range names {
		out[name]++
	}
	return out
}

func silent(t *testing.T, c *cluster, dead int) {
	t.Helper()
	c.nodes[dead].Die(t)
	alive := slices.Delete(slices.Clone(c.nodes), dead, dead+1)
	c.nodes[0].Clock.Advance(time.Second)
	enginetest.Beat(t, alive...)
}
