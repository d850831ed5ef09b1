package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// ofWorker is the history of a run whose worker died or was frozen at 10 s, for 4 s, and that began again elsewhere.
func ofWorker(harm history.Harm, again int) history.History {
	h := history.History{Jobs: []history.Job{{
		ID: "work", Name: "work", Shards: 1, Called: true, Nodes: []string{"w1", "w2"},
	}}}
	h.Cluster = history.Cluster{
		Nodes: []string{"a"}, Lease: 3 * time.Second, Bound: history.Holding{Descriptors: 1, Memory: 1, Connections: 1},
		Sights: []history.Member{{ID: "a", Epoch: 1, Status: "UP"}},
		Faults: []history.Fault{{Kind: "it", Harm: harm, Node: "w1", Worker: true, From: at(10_000), Until: at(14_000)}},
	}
	h.Rows = []history.Row{{
		ID: "run", JobID: "work", FireKey: "run", Trigger: "SCHEDULE", Status: "SUCCESS", Attempt: 2, NodeID: "w2",
		CreateTime: at(9000), ScheduledTime: at(9000), EndTime: at(again + 500),
		Former: []history.Attempt{{Attempt: 1, Status: "FAILED", Reason: "NODE_LOST", NodeID: "w1", EndTime: at(again - 50)}},
	}}
	first := history.Call{
		Execution: "run", Job: "work", Attempt: 1, Token: 1, Start: at(9100), End: at(10_000), Answer: history.AnswerCut,
	}
	if harm == history.HarmFreeze {
		first.End = at(14_500)
	}
	h.Calls = []history.Call{first, {
		Execution: "run", Job: "work", Attempt: 2, Token: 2, Start: at(again), End: at(again + 400), Answer: history.AnswerOK,
	}}
	return h
}

// A worker's lease is longer than a node's: its run begins elsewhere within that lease, two seconds, and as long as
// nodes have to take something up.
func TestTheRunOfADeadWorkerBeginsElsewhereInTime(t *testing.T) {
	require.Zero(t, of(ofWorker(history.HarmDeath, 41_900), history.RuleLateRetry))
	require.Equal(t, 1, of(ofWorker(history.HarmDeath, 42_100), history.RuleLateRetry))
	bothDie := ofWorker(history.HarmDeath, 42_100)
	bothDie.Cluster.Faults = append(bothDie.Cluster.Faults,
		history.Fault{Kind: "and", Harm: history.HarmDeath, Node: "w2", Worker: true, From: at(20_000), Until: at(22_000)})
	require.Zero(t, of(bothDie, history.RuleLateRetry), "nobody was there")
}

func TestAWorkerLosesARunOnlyByWhatWasDoneToIt(t *testing.T) {
	require.Zero(t, of(ofWorker(history.HarmDeath, 30_000), history.RuleOwnReason))
	unharmed := ofWorker(history.HarmDeath, 30_000)
	unharmed.Cluster.Faults[0].Node, unharmed.Cluster.Faults[0].Worker = "a", false
	require.Equal(t, 1, of(unharmed, history.RuleOwnReason), "the death of a gateway takes no run")
	elsewhere := ofWorker(history.HarmDeath, 30_000)
	elsewhere.Jobs[0].Nodes = []string{"w1"}
	require.Equal(t, 1, of(elsewhere, history.RuleWrongNode))
}

func TestTwoAttemptsOnWorkersMayMeetInAFreezeAlone(t *testing.T) {
	require.Zero(t, of(ofWorker(history.HarmFreeze, 13_000), history.RuleTwoAttempts), "FROZEN")
	require.Equal(t, 1, of(ofWorker(history.HarmHiccup, 9500), history.RuleTwoAttempts))
}

// A fault of a worker gives no node more time.
func TestAFaultOfAWorkerExcusesNoNode(t *testing.T) {
	h := goodCluster()
	for second := 10; second < 40; second++ {
		row(&h, fmt.Sprintf("dense-%d", second)).CreateTime = at(39_500)
	}
	before := of(h, history.RuleNoResume)
	require.Positive(t, before)
	h.Cluster.Faults = append(h.Cluster.Faults, history.Fault{
		Kind: "it", Harm: history.HarmDeath, Node: "w1", Worker: true, From: at(11_000), Until: at(38_000),
	})
	require.Equal(t, before, of(h, history.RuleNoResume))
}
