package dispatch_test

import (
	"sync"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// told notes what the other nodes would hear.
type told struct {
	mu  sync.Mutex
	sum commit.PostCommit
}

func (o *told) Notice(e commit.PostCommit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.Add(commit.PostCommit{
		Ready: e.Ready, ReadyCommands: e.ReadyCommands, Away: e.Away, Shared: e.Shared, Nodes: e.Nodes,
		CommandNodes: e.CommandNodes,
	})
}

// A node that may take a run hears of it, and no other.
func TestAHintNamesTheNodesThatGotWork(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		want   commit.PostCommit
	}{
		"any":             {by(entity.RouteAny), commit.PostCommit{Ready: 1, Shared: true}},
		"own queue":       {by(entity.RouteFirst), commit.PostCommit{Ready: 1}},
		"another's queue": {by(entity.RouteLast), commit.PostCommit{Away: 1, Nodes: []string{"node-3"}}},
		"labels":          {labelled("gpu", "yes"), commit.PostCommit{Away: 1, Nodes: []string{"node-2"}}},
		"a handler": {func(j *entity.Job) {
			j.Class = "settle"
		}, commit.PostCommit{Ready: 1, Nodes: []string{"node-3"}}},
		"commands": {commands, commit.PostCommit{Ready: 1, ReadyCommands: 1, CommandNodes: []string{"node-2"}}},
		"commands of another": {func(j *entity.Job) {
			commands(j)
			by(entity.RouteLast)(j)
		}, commit.PostCommit{Away: 1, CommandNodes: []string{"node-2"}}},
		"nobody": {labelled("gpu", "no"), commit.PostCommit{}},
		"broadcast shards": {func(j *entity.Job) {
			j.Broadcast = true
		}, commit.PostCommit{Ready: 1, Away: 2, Nodes: []string{"node-2", "node-3"}}},
		"shards, by turns": {func(j *entity.Job) {
			by(entity.RouteRoundRobin)(j)
			j.ShardCount = 6
		}, commit.PostCommit{Ready: 2, Away: 4, Nodes: []string{"node-2", "node-3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCluster(t, enginetest.Options{CommandSlots: 1, Handlers: []string{"settle"}},
				enginetest.Options{CommandSlots: 2, Labels: map[string]string{"gpu": "yes"}},
				enginetest.Options{Handlers: []string{"bill", "settle"}})
			heard := &told{}
			cl.nodes[0].Commits.OnCommit(heard.Notice)
			cl.nodes[0].Trigger(t, cl.job(c.change).ID)
			require.ElementsMatch(t, c.want.Nodes, heard.sum.Nodes)
			require.ElementsMatch(t, c.want.CommandNodes, heard.sum.CommandNodes)
			c.want.Nodes, heard.sum.Nodes, c.want.CommandNodes, heard.sum.CommandNodes = nil, nil, nil, nil
			require.Equal(t, c.want, heard.sum)
		})
	}
}

// The receivers of the runs that the sweep moves are told.
func TestAHintFollowsWhatIsMoved(t *testing.T) {
	cl := three(t)
	job := cl.job(by(entity.RouteLast))
	cl.nodes[0].Trigger(t, job.ID)
	heard := &told{}
	cl.nodes[0].Commits.OnCommit(heard.Notice)
	cl.nodes[2].Die(t)
	enginetest.Beat(t, cl.nodes[:2]...)
	require.Equal(t, 1, cl.nodes[0].Sweep(t))
	require.Equal(t, commit.PostCommit{Away: 1, Nodes: []string{"node-2"}}, heard.sum)
}
