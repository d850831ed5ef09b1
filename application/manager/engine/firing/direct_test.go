package firing_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rule 14: where nothing stands against it, the execution is born RUNNING.
func TestADirectStartIsHeldByTheNodeFromBirth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{NodeID: "node-7", Epoch: 3})
		job := n.Add(t, everySecond(nil))
		release := n.Script.Hold()
		n.Fire(t)
		run := n.Script.Await(t, 1)[0]
		exec := n.Execution(t, run.Execution.ID)
		require.Equal(t, job.ID, exec.JobID)
		require.Equal(t, entity.StatusRunning, exec.Status)
		require.Equal(t, "node-7", exec.NodeID)
		require.EqualValues(t, 3, exec.Epoch)
		require.EqualValues(t, 1, exec.Token)
		require.Equal(t, 1, exec.Attempt)
		require.Equal(t, entity.RunningKey("node-7"), exec.Claim)
		require.Equal(t, 1, slotsInUse(n))
		n.Start(t)
		release()
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		awaitIdle(t, n)
	})
}

// Rule 14, each condition negated: the run waits for a claim instead.
func TestWhatStandsAgainstADirectStart(t *testing.T) {
	for name, c := range map[string]struct {
		options enginetest.Options
		change  func(j *entity.Job)
		prepare func(n *enginetest.Node)
	}{
		"another routing": {change: func(j *entity.Job) { j.Routing.Strategy = entity.RouteLRU }},
		"a label without a value that the node lacks": {
			change: func(j *entity.Job) { j.Routing.Labels = map[string]string{"gpu": ""} },
		},
		"a node that is drained": {prepare: func(n *enginetest.Node) { n.Runner.Suspend(true) }},
		"a label that the node lacks": {
			options: enginetest.Options{Labels: map[string]string{"zone": "a"}},
			change:  func(j *entity.Job) { j.Routing.Labels = map[string]string{"zone": "b"} },
		},
		"a coordinated job":  {change: func(j *entity.Job) { j.Overlap = entity.OverlapSerial }},
		"a limit":            {change: func(j *entity.Job) { j.MaxConcurrency = 3 }},
		"shards":             {change: func(j *entity.Job) { j.ShardCount = 2 }},
		"a node that drains": {prepare: func(n *enginetest.Node) { n.Runner.Drain(t.Context(), 0) }},
		"no slot": {
			options: enginetest.Options{Slots: 1},
			prepare: func(n *enginetest.Node) { n.Runner.Reserve(entity.Slots{1}) },
		},
		"runs that wait": {prepare: func(n *enginetest.Node) { n.Commits.AfterCommit(commit.PostCommit{Ready: 1}) }},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, c.options)
			job := n.Add(t, everySecond(c.change))
			if c.prepare != nil {
				c.prepare(n)
			}
			used := slotsInUse(n)
			n.Fire(t)
			execs := n.Executions(t, job.ID)
			require.NotEmpty(t, execs)
			for _, exec := range execs {
				require.Equal(t, entity.StatusWaiting, exec.Status)
				require.Empty(t, exec.NodeID)
				require.Zero(t, exec.Attempt)
				require.Zero(t, exec.Token)
				require.NotEmpty(t, exec.Claim, "it has its place in the claim index")
			}
			require.Empty(t, n.Script.Runs())
			require.Equal(t, used, slotsInUse(n), "no slot is kept")
		})
	}
}

func TestALabelThatTheNodeHasIsNoHindrance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Labels: map[string]string{"zone": "a", "disk": "ssd"}})
		job := n.Add(t, everySecond(func(j *entity.Job) { j.Routing.Labels = map[string]string{"zone": "a"} }))
		n.Fire(t)
		require.Equal(t, []string{"RUNNING"}, enginetest.States(n.Executions(t, job.ID)))
		n.Start(t)
	})
}

// Where slots are short the most urgent start, and the others wait.
func TestShortSlotsGoToTheMostUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 3})
		jobs := addMany(t, n, 10, func(i int, j *entity.Job) { j.Priority = 1 + i })
		n.Script.Hold()
		// The batch is bounded by the room there is, which must not decide who starts.
		require.NoError(t, fireOnce(t, n))
		started := 0
		for _, job := range jobs {
			for _, exec := range n.Executions(t, job.ID) {
				if exec.Status == entity.StatusRunning {
					started++
				}
			}
		}
		require.Equal(t, 3, started)
		require.Len(t, n.Executions(t, ""), 3, "the others are left to a batch that may find slots")
		require.Equal(t, 3, slotsInUse(n))
		n.Fire(t)
		for i, job := range jobs {
			require.Len(t, n.Executions(t, job.ID), 1, fmt.Sprintf("job %d", i))
		}
		n.Start(t)
	})
}

// One batch may hold more runs than there are slots, since a job may have
// several fires to make up for: the most urgent job's start.
func TestRunsBeyondTheSlotsAreThoseOfTheLeastUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 3})
		jobs := addMany(t, n, 3, func(i int, j *entity.Job) { j.Priority = []int{2, 9, 5}[i] })
		n.Script.Hold()
		n.Clock.Advance(2 * time.Second)
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, []string{"WAITING", "WAITING", "WAITING"}, enginetest.States(n.Executions(t, jobs[0].ID)))
		require.Equal(t, []string{"RUNNING", "RUNNING", "RUNNING"}, enginetest.States(n.Executions(t, jobs[1].ID)))
		require.Equal(t, []string{"WAITING", "WAITING", "WAITING"}, enginetest.States(n.Executions(t, jobs[2].ID)))
		n.Start(t)
	})
}

// A backlog of fires of one job takes as many slots as there are, by priority.
func TestManyFiresOfOneJobStartAsFarAsSlotsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 2})
		job := n.Add(t, everySecond(func(j *entity.Job) {
			j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 60, MaxFires: 10}
		}))
		n.Script.Hold()
		n.Clock.Advance(4 * time.Second)
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, []string{"RUNNING", "RUNNING", "WAITING", "WAITING", "WAITING"},
			enginetest.States(n.Executions(t, job.ID)))
		n.Start(t)
	})
}
