package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// addFences puts a cut of node c from 130 s on into a good cluster, which stops in
// time and is declared, and an outage for all at 160 s that stops nobody.
func addFences(h *history.History) {
	c := &h.Cluster
	c.Faults = append(c.Faults,
		history.Fault{Kind: "cut", Harm: history.HarmCut, Node: "c", From: at(130_000), Until: at(135_000)},
		history.Fault{Kind: "outage", Harm: history.HarmOutage, From: at(160_000), Until: at(175_000)})
	c.Fences = []history.Fence{
		{Node: "c", Epoch: 4, At: at(132_600)},
		{Node: "b", Epoch: 2, At: at(26_100)},
		{Node: "b", Epoch: 3, At: at(26_500), Works: true},
		{Node: "c", Epoch: 5, At: at(132_900), Works: true}, // the line of the verdict was late
	}
	c.Deaths = []history.Death{
		{Node: "a", By: "b", Epoch: 1, At: at(10_900)},
		{Node: "b", By: "c", Epoch: 2, At: at(23_200)},
		{Node: "c", By: "b", Epoch: 4, At: at(133_100)},
	}
}

// fenceSeeds are violations put into a good cluster.
func fenceSeeds() []seeded {
	return []seeded{
		{history.RuleFenced, "a node that is declared before it stops", func(h *history.History) {
			h.Cluster.Fences[0].At = at(133_300)
		}},
		{history.RuleFenced, "a node that stops a moment after it is declared", func(h *history.History) {
			h.Cluster.Fences[0].At = at(133_101)
		}},
		{history.RuleFenced, "a node that works again under the epoch that is declared", func(h *history.History) {
			h.Cluster.Fences[3].Epoch = 4
		}},
		{history.RuleFenced, "a process that is declared, of which only the former one stopped", func(h *history.History) {
			h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "c", At: at(132_800), Works: true, Why: "it starts"})
		}},
		{history.RuleFenced, "a node that is declared and never stops", func(h *history.History) {
			h.Cluster.Fences = h.Cluster.Fences[1:]
		}},
		{history.RuleFenced, "a node that is declared after it works again", func(h *history.History) {
			h.Cluster.Deaths = append(h.Cluster.Deaths, history.Death{Node: "c", By: "a", Epoch: 5, At: at(137_000)})
		}},
		{history.RuleFenced, "a node that is declared long after it woke", func(h *history.History) {
			h.Cluster.Deaths[1].At, h.Cluster.Deaths[1].Epoch = at(29_000), 3
		}},
		{history.RuleNoHarm, "a node that stops in an outage for all", func(h *history.History) {
			h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "a", At: at(164_000)})
		}},
		{history.RuleNoHarm, "a node that is declared when the store is back", func(h *history.History) {
			h.Cluster.Deaths = append(h.Cluster.Deaths, history.Death{Node: "a", By: "b", At: at(177_000)})
		}},
		{history.RuleNoHarm, "a node that stops while nothing is done", func(h *history.History) {
			h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "a", At: at(110_000)})
		}},
		{history.RuleNoHarm, "a node that stops when another one is cut off", func(h *history.History) {
			h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "a", At: at(133_000)})
		}},
		{history.RuleDeleted, "a run that begins after its job is deleted", func(h *history.History) {
			job(h, "two").Deleted = at(29_000)
		}},
		{history.RuleWrongNode, "a run on a node without its handler", func(h *history.History) {
			job(h, "work").Nodes = []string{"a"}
		}},
		{history.RuleLimit, "a third command on a node of two slots", func(h *history.History) {
			job(h, "two").AtMost, job(h, "two").CommandSlots = 0, 1
			for _, id := range []string{"two-0", "two-1", "two-2"} {
				h.Rows = append(h.Rows, history.Row{ID: id, JobID: "two", FireKey: id, Status: "SUCCESS", Attempt: 1, NodeID: "a"})
			}
		}},
		{history.RuleLimit, "a third call after the first limit of its group", func(h *history.History) {
			j := job(h, "two")
			j.AtMost, j.Group, j.GroupAtMost, j.LimitFrom = 0, "late", 1, at(30_100)
		}},
		{history.RuleOwnReason, "the answer of another attempt", func(h *history.History) {
			row(h, "serial-1-0").Result = history.Mark(1)
		}},
		{history.RuleOwnReason, "a success with a reason", func(h *history.History) {
			row(h, "grid-1-0").Reason = "HTTP_STATUS"
		}},
		{history.RuleOwnReason, "a node that is lost without a cause", func(h *history.History) {
			r := row(h, "lost-0-0")
			r.NodeID, r.CreateTime, r.EndTime = "z", at(0), at(500)
		}},
		{history.RuleNoCause, "a run that waits for nothing", func(h *history.History) {
			h.Cluster.Unexplained = h.Rows[:1]
		}},
		{history.RuleLeftover, "a place without a fire", func(h *history.History) {
			h.Cluster.Leftovers = []history.Leftover{{Of: "job", Job: "serial", Fire: "x"}}
		}},
	}
}

// job finds a job of the history.
func job(h *history.History, id string) *history.Job {
	for i := range h.Jobs {
		if h.Jobs[i].ID == id {
			return &h.Jobs[i]
		}
	}
	return nil
}

// A node that stopped long before, and has not begun again, may lose what it takes.
func TestANodeThatHasStoppedForLongMayLoseRuns(t *testing.T) {
	h := goodCluster()
	lost := history.Row{
		ID: "late", JobID: "lost", FireKey: "late", Status: "SUCCESS", Attempt: 2, Trigger: "MANUAL", NodeID: "b",
		CreateTime: at(150_000), EndTime: at(150_200), ShardTotal: 1,
		Former: []history.Attempt{{Attempt: 1, Reason: "NODE_LOST", NodeID: "z", EndTime: at(150_100)}},
	}
	h.Rows = append(h.Rows, lost)
	h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "z", At: at(120_000)})
	reasons := func() (n int) {
		for _, v := range history.Check(h) {
			if v.Rule == history.RuleOwnReason {
				n++
			}
		}
		return n
	}
	require.Zero(t, reasons())
	h.Cluster.Fences = append(h.Cluster.Fences, history.Fence{Node: "z", At: at(130_000), Works: true})
	require.Equal(t, 1, reasons(), "it worked again")
}
