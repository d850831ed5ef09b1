package dispatch_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// told notes what the other nodes would hear.
type told struct {
	mu  sync.Mutex
	sum admission.PostCommit
}

func (o *told) Notice(e admission.PostCommit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum.Add(admission.PostCommit{
		Ready: e.Ready, ReadyCommands: e.ReadyCommands, Away: e.Away, Shared: e.Shared, Nodes: e.Nodes,
		CommandNodes: e.CommandNodes,
	})
}

// Whoever may take a run hears of it, and nobody else.
func TestAHintNamesTheNodesThatGotWork(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		want   admission.PostCommit
	}{
		"any":             {by(entity.RouteAny), admission.PostCommit{Ready: 1, Shared: true}},
		"own queue":       {by(entity.RouteFirst), admission.PostCommit{Ready: 1}},
		"another's queue": {by(entity.RouteLast), admission.PostCommit{Away: 1, Nodes: []string{"node-3"}}},
		"labels":          {labelled("gpu", "yes"), admission.PostCommit{Away: 1, Nodes: []string{"node-2"}}},
		"a handler": {func(j *entity.Job) {
			j.Class = "settle"
		}, admission.PostCommit{Ready: 1, Nodes: []string{"node-3"}}},
		"commands": {commands, admission.PostCommit{Ready: 1, ReadyCommands: 1, CommandNodes: []string{"node-2"}}},
		"commands of another": {func(j *entity.Job) {
			commands(j)
			by(entity.RouteLast)(j)
		}, admission.PostCommit{Away: 1, CommandNodes: []string{"node-2"}}},
		"nobody": {labelled("gpu", "no"), admission.PostCommit{}},
		"broadcast shards": {func(j *entity.Job) {
			j.Broadcast = true
		}, admission.PostCommit{Ready: 1, Away: 2, Nodes: []string{"node-2", "node-3"}}},
		"shards, by turns": {func(j *entity.Job) {
			by(entity.RouteRoundRobin)(j)
			j.ShardCount = 6
		}, admission.PostCommit{Ready: 2, Away: 4, Nodes: []string{"node-2", "node-3"}}},
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

// What the sweep moves is told to those who get it.
func TestAHintFollowsWhatIsMoved(t *testing.T) {
	cl := three(t)
	job := cl.job(by(entity.RouteLast))
	cl.nodes[0].Trigger(t, job.ID)
	heard := &told{}
	cl.nodes[0].Commits.OnCommit(heard.Notice)
	cl.nodes[2].Die(t)
	enginetest.Beat(t, cl.nodes[:2]...)
	require.Equal(t, 1, cl.nodes[0].Sweep(t))
	require.Equal(t, admission.PostCommit{Away: 1, Nodes: []string{"node-2"}}, heard.sum)
}
