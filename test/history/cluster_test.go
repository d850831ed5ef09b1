package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

func at(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }

// goodCluster is a good history of three nodes: at 10 s node a dies, whose run
// goes on at b; at 20 s b freezes for 6 s, and its run is begun again meanwhile
// and refused when it wakes. A grid is fired all the while.
func goodCluster() history.History {
	h := goodHistory()
	h.Jobs = append(h.Jobs,
		history.Job{ID: "dense", Name: "dense", Step: time.Second, Origin: begin, From: begin, Until: at(40_000), Shards: 1},
		history.Job{ID: "work", Name: "work", Shards: 1, OneAtATime: true, Called: true},
		history.Job{ID: "kept", Name: "kept", Shards: 1, Group: "late", GroupAtMost: 1, LimitFrom: at(18_000)},
		history.Job{ID: "two", Name: "two", Shards: 1, AtMost: 2})
	// Both had begun before the limit, and keep their places for a second attempt.
	for token, start := range []int{17_000, 18_500} {
		for _, execution := range []string{"kept-0", "kept-1"} {
			h.Calls = append(h.Calls, history.Call{
				Execution: execution, Job: "kept", Attempt: token + 1, Token: int64(token + 1), Start: at(start),
				End: at(start + 900),
			})
		}
	}
	for second := range 40 {
		node, created := "a", second*1000
		if second >= 10 {
			node = "b"
		}
		if second >= 10 && second < 15 {
			created = 15_000
		}
		h.Rows = append(h.Rows, history.Row{
			ID: fmt.Sprintf("dense-%d", second), JobID: "dense", FireKey: at(second * 1000).Format(time.RFC3339),
			ScheduledTime: at(second * 1000),
			Trigger:       "SCHEDULE", Status: "SUCCESS", Attempt: 1, NodeID: node, CreateTime: at(created),
			EndTime: at(created + 10),
		})
	}
	run := func(id, first, second string) {
		h.Rows = append(h.Rows, history.Row{
			ID: id, JobID: "work", FireKey: id, Trigger: "SCHEDULE", Status: "SUCCESS", Attempt: 2, NodeID: second,
			CreateTime: at(9000),
			Former: []history.Attempt{{
				Attempt: 1, Status: "FAILED", Reason: "NODE_LOST", NodeID: first,
				EndTime: at(25_000),
			}},
		})
	}
	call := func(execution string, attempt int, token int64, start, end int, a history.Answer) {
		h.Calls = append(h.Calls, history.Call{
			Execution: execution, Job: "work", Attempt: attempt, Token: token,
			Start: at(start), End: at(end), Answer: a,
		})
	}
	run("died", "a", "b")
	call("died", 1, 65537, 9000, 10_000, history.AnswerCut)
	call("died", 2, 65538, 15_000, 16_000, history.AnswerOK)
	run("froze", "b", "c")
	call("froze", 1, 131073, 19_000, 26_500, history.AnswerCut)
	call("froze", 2, 131074, 24_000, 25_000, history.AnswerOK)
	for i, start := range []int{30_000, 30_500, 31_000} {
		h.Calls = append(h.Calls, history.Call{
			Execution: fmt.Sprintf("two-%d", i), Job: "two", Attempt: 1, Start: at(start),
			End: at(start + 900),
		})
	}
	h.Cluster = history.Cluster{
		Nodes: []string{"a", "b"}, Beat: 500 * time.Millisecond, Lease: 3 * time.Second,
		Faults: []history.Fault{
			{Kind: "kill", Harm: history.HarmDeath, Node: "a", From: at(10_000), Until: at(12_000)},
			{Kind: "freeze", Harm: history.HarmFreeze, Node: "b", From: at(20_000), Until: at(26_000)},
		},
		Looks: []history.Row{h.Rows[0]},
		Answers: []history.Reply{
			{Node: "c", Status: 200, At: at(5000)},
			{Node: "b", Status: 503, At: at(22_000)},
			{Node: "c", Status: 409, At: at(22_000)},
		},
		Sights: []history.Member{
			{ID: "a", Epoch: 1, Status: "DOWN"},
			{ID: "a", Epoch: 2, Status: "UP"},
			{ID: "b", Epoch: 1, Status: "UP"},
		},
		Holdings: []history.Holding{{Node: "a", Descriptors: 50, Memory: 50 << 20, Connections: 16}},
		Exits:    []history.Exit{{Node: "c", At: at(5000)}, {Node: "b", At: at(25_000), Code: 1}},
		Outputs: []history.Output{{Execution: "died", Lines: []history.Line{
			{Attempt: 1, Stream: "STDOUT", Line: "attempt 1 line 1"},
			{Attempt: 2, Stream: "STDOUT", Line: "attempt 2 line 1"},
			{Attempt: 2, Stream: "STDOUT", Line: "attempt 2 line 2"},
			{Attempt: 2, Stream: "STDOUT", Line: "attempt 2 line 3"},
			{Attempt: 1, Stream: "EVIDENCE", Line: "refused"},
		}}},
		Twins: []history.Twin{{Node: "c", At: at(5000)}, {Node: "b", At: at(24_000), Accepted: true}},
		Bound: history.Holding{Descriptors: 100, Memory: 100 << 20, Connections: 20},
	}
	row(&h, "lost-0-0").CreateTime, row(&h, "lost-0-0").EndTime = at(25_000), at(26_000)
	addFences(&h)
	return h
}

func clusterSeeds() []seeded {
	// Behind them stand the three of the limited job.
	last := func(h *history.History, back int) *history.Call { return &h.Calls[len(h.Calls)-3-back] }
	return []seeded{
		{history.RuleTwoAttempts, "a node that worked on for long after it woke", func(h *history.History) {
			last(h, 2).End = at(29_000)
		}},
		{history.RuleTwoAttempts, "a run taken from a node that was well", func(h *history.History) {
			h.Cluster.Faults[1].Node = "c"
		}},
		{history.RuleTwoAttempts, "a run taken from a node that was cut off and worked on", func(h *history.History) {
			h.Cluster.Faults[1].Harm = history.HarmCut
		}},
		{history.RuleOverlap, "a run taken from a node before it froze", func(h *history.History) {
			last(h, 1).Start, last(h, 1).End = at(19_500), at(19_900)
		}},
		{history.RuleOverlap, "a run taken after a hiccup", func(h *history.History) {
			h.Cluster.Faults[1].Until = at(21_000)
		}},
		{history.RuleLimit, "a third call beside two", func(h *history.History) {
			h.Calls[len(h.Calls)-1].Start = at(30_600)
		}},
		{history.RuleLimit, "a third call in a group beside two", func(h *history.History) {
			j := &h.Jobs[len(h.Jobs)-1]
			j.AtMost, j.Group, j.GroupAtMost = 0, "g", 2
			h.Calls[len(h.Calls)-1].Start = at(30_600)
		}},
		{history.RuleLogs, "a line that is lost", func(h *history.History) {
			o := &h.Cluster.Outputs[0]
			o.Lines = o.Lines[:3]
		}},
		{history.RuleLogs, "a line of another attempt", func(h *history.History) {
			h.Cluster.Outputs[0].Lines[0].Attempt = 2
		}},
		{history.RuleTwin, "two processes under one id", func(h *history.History) { h.Cluster.Twins[0].Accepted = true }},
		{history.RuleTokenFell, "a zombie of a node that was well", func(h *history.History) {
			zombie := *last(h, 2)
			zombie.Start, zombie.End, zombie.Answer = at(35_000), at(35_000), history.AnswerRefused
			h.Calls = append(h.Calls, zombie)
		}},
		{history.RuleUnseenSuccess, "a success of the attempt before the last one", func(h *history.History) {
			last(h, 2).Answer, last(h, 1).Answer = history.AnswerOK, history.AnswerCut
		}},
		{history.RuleChanged, "a success that became a failure", func(h *history.History) {
			h.Cluster.Looks[0].Status = "FAILED"
		}},
		{history.RuleChanged, "a final run that is gone", func(h *history.History) { h.Cluster.Looks[0].ID = "gone" }},
		{history.RuleServerError, "an inner error during a fault", func(h *history.History) {
			h.Cluster.Answers[1].Status = 500
		}},
		{history.RuleServerError, "a session that does not hold", func(h *history.History) {
			h.Cluster.Answers[2].Status = 401
		}},
		{history.RuleServerError, "a refusal without a fault", func(h *history.History) {
			h.Cluster.Answers[0].Status = 503
		}},
		{history.RuleServerError, "silence without a fault", func(h *history.History) { h.Cluster.Answers[0].Status = 0 }},
		{history.RuleMembers, "an epoch that fell", func(h *history.History) { h.Cluster.Sights[1].Epoch = 0 }},
		{history.RuleMembers, "a node that did not come back", func(h *history.History) {
			h.Cluster.Sights[2].Status = "SUSPECT"
		}},
		{history.RuleUnbounded, "descriptors that leak", func(h *history.History) {
			h.Cluster.Holdings[0].Descriptors = 5000
		}},
		{history.RuleUnbounded, "connections without a bound", func(h *history.History) {
			h.Cluster.Holdings[0].Connections = 400
		}},
		{history.RuleStop, "a stop that failed", func(h *history.History) { h.Cluster.Exits[0].Code = 1 }},
		{history.RuleStop, "a process that ended by itself", func(h *history.History) { h.Cluster.Exits[1].Code = -1 }},
		{history.RuleLateRetry, "a run of a dead node that waited", func(h *history.History) {
			last(h, 3).Start, last(h, 3).End = at(50_000), at(50_100)
		}},
		{history.RuleLateRetry, "a run of a dead node that was failed late", func(h *history.History) {
			r := row(h, "died")
			r.Attempt, r.Status, r.Reason, r.NodeID, r.EndTime = 1, "FAILED", "NODE_LOST", "a", at(50_000)
		}},
		{history.RuleNoResume, "a job that nobody took over", func(h *history.History) {
			for second := 10; second < 40; second++ {
				row(h, fmt.Sprintf("dense-%d", second)).CreateTime = at(39_500)
			}
		}},
	}
}

func TestTheOneAllowanceIsCounted(t *testing.T) {
	s := history.Summarize(goodCluster())
	require.Empty(t, s.Violations)
	require.Positive(t, s.Frozen)
}

func TestWhatIsHeldBeyondItsBoundNamesTheMomentAndItsFaults(t *testing.T) {
	h := goodCluster()
	f := h.Cluster.Faults[0]
	h.Cluster.Holdings = append(h.Cluster.Holdings, history.Holding{Node: "b", At: f.From, Connections: 62})
	found := history.Check(h)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Detail, "62 connections at "+f.From.Format("15:04:05"))
	require.Contains(t, found[0].Detail, "during: "+f.Kind)
}

func TestGapsAreOfTheJobsThatTheDeadNodePlanned(t *testing.T) {
	all, alone := history.Gaps(goodCluster())
	require.Equal(t, []time.Duration{5 * time.Second}, all)
	require.Equal(t, all, alone)
	h := goodCluster()
	h.Cluster.Faults[1].From = at(19_000)
	all, alone = history.Gaps(h)
	require.Len(t, all, 1)
	require.Empty(t, alone, "another fault touched it")
	h.Cluster.Faults[0].Node = "c"
	all, _ = history.Gaps(h)
	require.Empty(t, all)
}

func TestTheLedgerOfCommandsIsRead(t *testing.T) {
	calls, err := history.ReadCommands("testdata/commands.ledger")
	require.NoError(t, err)
	require.Len(t, calls, 3)
	require.Equal(t, history.AnswerOK, calls[0].Answer)
	require.Equal(t, 300*time.Millisecond, calls[0].End.Sub(calls[0].Start))
	require.Equal(t, history.AnswerCut, calls[1].Answer, "no end was written")
	require.Equal(t, 100*time.Millisecond, calls[1].End.Sub(calls[1].Start), "it was last seen alive")
	require.Equal(t, history.Call{
		Execution: "x2", Job: "j", Attempt: 2, Shard: 1, Token: 7, Start: time.UnixMicro(1795000003000000),
		End:    time.UnixMicro(1795000003000000),
		Answer: history.AnswerCut,
	}, calls[2], "the line that is not whole is left out")
}
