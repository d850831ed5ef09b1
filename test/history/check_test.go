package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// goodHistory has a grid with a skipped range, a sharded job, a serial job
// with a retry, a fixed delay and a trigger; nothing is wrong with it.
func goodHistory() history.History {
	h := history.History{Jobs: []history.Job{
		{
			ID: "grid", Name: "grid", Step: time.Second, Origin: begin, From: begin, Until: begin.Add(10 * time.Second),
			Shards: 1, Called: true,
		},
		{
			ID: "shards", Name: "shards", Step: time.Second, Origin: begin, From: begin, Until: begin.Add(2 * time.Second),
			Shards: 2,
		},
		{
			ID: "serial", Name: "serial", Step: time.Second, Origin: begin, From: begin, Until: begin.Add(3 * time.Second),
			Shards: 1, OneAtATime: true, Called: true, MaxRetries: 1,
		},
		{ID: "delay", Name: "delay", Shards: 1, OneAtATime: true, Delay: 300 * time.Millisecond},
		{ID: "once", Name: "once", Once: true, Origin: begin, From: begin, Until: begin.Add(time.Second), Shards: 1},
		{
			ID: "lost", Name: "lost", Step: 5 * time.Second, Origin: begin, From: begin, Until: begin.Add(time.Second),
			Shards: 1, Called: true, OnceOnly: true,
		},
		{ID: "hand", Name: "hand", Shards: 1},
		{
			ID: "first", Name: "first", Once: true, Origin: begin, From: begin, Until: begin.Add(time.Second), Shards: 2,
			Next: []history.Next{{Name: "good", On: "SUCCESS"}, {Name: "bad", On: "FAILURE"}, {Name: "end", On: "END"}},
		},
		{ID: "good", Name: "good", Shards: 1},
		{ID: "bad", Name: "bad", Shards: 2},
		{ID: "end", Name: "end", Shards: 1},
	}}
	fire := func(job string, second, shard int, status, reason string) *history.Row {
		at := begin.Add(time.Duration(second) * time.Second)
		h.Rows = append(h.Rows, history.Row{
			ID: fmt.Sprintf("%s-%d-%d", job, second, shard), JobID: job, FireKey: at.Format(time.RFC3339), ScheduledTime: at,
			Trigger: "SCHEDULE", ShardIndex: shard, ShardTotal: 1, Status: status, Reason: reason, Attempt: 1,
		})
		return &h.Rows[len(h.Rows)-1]
	}
	call := func(job, execution string, attempt int, token int64, startMs, endMs int) {
		h.Calls = append(h.Calls, history.Call{
			Execution: execution, Job: job, Attempt: attempt, Token: token, Answer: history.AnswerOK,
			Start: begin.Add(time.Duration(startMs) * time.Millisecond), End: begin.Add(time.Duration(endMs) * time.Millisecond),
		})
	}
	for second := range 4 {
		fire("grid", second, 0, "SUCCESS", "")
		call("grid", fmt.Sprintf("grid-%d-0", second), 1, 1, second*1000, second*1000+10)
	}
	h.Rows = append(h.Rows, history.Row{
		ID: "grid-range", JobID: "grid", FireKey: "range:4", ScheduledTime: begin.Add(4 * time.Second), Trigger: "SCHEDULE",
		Status: "SKIPPED",
		Reason: "MISFIRE", SkipFrom: begin.Add(4 * time.Second), SkipTo: begin.Add(9 * time.Second), SkipCount: 5,
	})
	fire("grid", 9, 0, "FAILED", "HTTP_STATUS")
	call("grid", "grid-9-0", 1, 1, 9000, 9010)
	h.Calls[len(h.Calls)-1].Answer = history.AnswerFailed
	for second := range 2 {
		fire("shards", second, 0, "SUCCESS", "")
		fire("shards", second, 1, "SUCCESS", "")
	}
	fire("serial", 0, 0, "SUCCESS", "").Attempt = 2
	call("serial", "serial-0-0", 1, 65537, 0, 500)
	call("serial", "serial-0-0", 2, 65538, 600, 900)
	fire("serial", 1, 0, "DEAD", "HTTP_STATUS").Attempt = 2
	call("serial", "serial-1-0", 1, 131073, 1000, 1500)
	call("serial", "serial-1-0", 2, 131074, 1600, 1700)
	h.Calls[len(h.Calls)-1].Answer = history.AnswerFailed
	fire("serial", 2, 0, "SKIPPED", "QUEUE_FULL")
	call("delay", "delay-0-0", 1, 65537, 0, 100)
	call("delay", "delay-1-0", 1, 131073, 450, 500)
	fire("once", 0, 0, "SUCCESS", "")
	fire("lost", 0, 0, "FAILED", "NODE_LOST").NodeID = "b"
	call("lost", "lost-0-0", 1, 1, 0, 100)
	h.Rows = append(h.Rows, history.Row{
		ID: "hand-1", JobID: "hand", FireKey: "MANUAL:1", ScheduledTime: begin,
		Trigger: "MANUAL", Status: "SUCCESS",
	})
	fire("first", 0, 0, "SUCCESS", "")
	fire("first", 0, 1, "DEAD", "HTTP_STATUS")
	for _, id := range []string{"bad-0", "bad-1", "end-0"} {
		h.Rows = append(h.Rows, history.Row{
			ID: id, JobID: id[:3], FireKey: "next", Trigger: "DEPENDENCY", StartedBy: "first-0-0", Status: "SUCCESS",
			ShardIndex: int(id[4] - '0'),
		})
	}
	h.Statistics = []history.Statistic{
		{JobID: "hand", Runs: 1, Success: 1},
		{JobID: "grid", Runs: 5, Success: 4, Failed: 1, Skipped: 5},
		{JobID: "serial", Runs: 2, Success: 1, Dead: 1, Skipped: 1},
	}
	h.Triggers = append(h.Triggers, history.Trigger{Key: "k", JobID: "hand", Execution: "hand-1"})
	return h
}

func TestAGoodHistoryPasses(t *testing.T) {
	require.Empty(t, history.Check(goodHistory()))
	require.Empty(t, history.Check(goodCluster()))
}

// The statistics of the cluster are those of all jobs together.
func TestTheTotalIsThatOfAllJobs(t *testing.T) {
	h := goodHistory()
	h.Total = &history.Statistic{Runs: 19, Success: 15, Failed: 2, Dead: 2, Skipped: 6}
	require.Empty(t, history.Check(h))
}

// An old token is a violation although its caller has hung up, and the violation says so.
func TestAViolationTellsWhetherTheCallerHadHungUp(t *testing.T) {
	for _, gone := range []bool{true, false} {
		h := goodHistory()
		h.Rows = append(h.Rows, history.Row{
			ID: "hand-2", JobID: "hand", FireKey: "MANUAL:2", ScheduledTime: begin, Trigger: "MANUAL",
			Status: "CANCELLED", Reason: "REPLACED", Attempt: 1,
		})
		h.Statistics[0].Runs, h.Statistics[0].Cancelled = 2, 1
		h.Triggers = append(h.Triggers, history.Trigger{Key: "l", JobID: "hand", Execution: "hand-2"})
		h.Calls = append(h.Calls, history.Call{
			Execution: "hand-2", Job: "hand", Attempt: 1, Token: 1, Start: begin.Add(3 * time.Second),
			End: begin.Add(3 * time.Second), Answer: history.AnswerRefused, Gone: gone,
		})
		found := history.Check(h)
		require.Len(t, found, 1)
		require.Equal(t, history.RuleTokenFell, found[0].Rule)
		require.Contains(t, found[0].Detail, fmt.Sprint("hung up before: ", gone))
	}
}

// row finds a row of the history.
func row(h *history.History, id string) *history.Row {
	for i := range h.Rows {
		if h.Rows[i].ID == id {
			return &h.Rows[i]
		}
	}
	return nil
}

// without removes a row.
func without(h *history.History, id string) {
	for i := range h.Rows {
		if h.Rows[i].ID == id {
			h.Rows = append(h.Rows[:i:i], h.Rows[i+1:]...)
			return
		}
	}
}

// seeded is a violation put into a good history.
type seeded struct {
	rule string
	what string
	seed func(h *history.History)
}

func TestEverySeededViolationIsFound(t *testing.T) {
	seeds := []seeded{
		{history.RuleDoubleRow, "a fire recorded twice", func(h *history.History) {
			r := *row(h, "grid-1-0")
			r.ID = "copy"
			h.Rows = append(h.Rows, r)
			h.Calls = append(h.Calls, history.Call{Execution: "copy", Job: "grid", Attempt: 1, Start: begin, End: begin})
		}},
		{history.RuleMissingFire, "a fire dropped", func(h *history.History) { without(h, "grid-2-0") }},
		{history.RuleMissingFire, "a range one second short", func(h *history.History) {
			row(h, "grid-range").SkipTo = begin.Add(8 * time.Second)
		}},
		{history.RuleMissingFire, "a ONCE job that never fired", func(h *history.History) { without(h, "once-0-0") }},
		{history.RuleDecidedTwice, "a range over a fire that ran", func(h *history.History) {
			row(h, "grid-range").SkipFrom = begin.Add(3 * time.Second)
		}},
		{history.RuleExtraFire, "a fire between two nominal times", func(h *history.History) {
			r := *row(h, "shards-1-0")
			r.ID, r.FireKey, r.ScheduledTime = "extra", "extra", begin.Add(1500*time.Millisecond)
			h.Rows = append(h.Rows, r)
		}},
		{history.RuleMissingShard, "a lost shard", func(h *history.History) { without(h, "shards-1-1") }},
		{history.RuleStatistics, "a run that counts twice", func(h *history.History) { h.Statistics[0].Runs++ }},
		{history.RuleStatistics, "a range that counts once", func(h *history.History) { h.Statistics[1].Skipped = 1 }},
		{history.RuleStatistics, "a dead run that counts as failed", func(h *history.History) {
			h.Statistics[2].Dead, h.Statistics[2].Failed = 0, 1
		}},
		{history.RuleStatistics, "a total that lacks a run", func(h *history.History) {
			h.Total = &history.Statistic{Runs: 1, Success: 1}
		}},
		{history.RuleStuck, "a run that never ends", func(h *history.History) { row(h, "shards-0-0").Status = "RUNNING" }},
		{history.RuleStuck, "a run that never starts", func(h *history.History) { row(h, "shards-0-1").Status = "WAITING" }},
		{history.RuleNoReason, "a failure without a reason", func(h *history.History) { row(h, "grid-9-0").Reason = "" }},
		{history.RuleNoReason, "a cancel that nobody asked for", func(h *history.History) {
			h.Cancels = []string{"grid-1-0"}
			row(h, "grid-9-0").Status, row(h, "grid-9-0").Reason = "CANCELLED", ""
		}},
		{history.RuleDoubleAttempt, "an attempt made twice", func(h *history.History) {
			h.Calls = append(h.Calls, h.Calls[0])
		}},
		{history.RuleUnseenSuccess, "a success nobody saw", func(h *history.History) { h.Calls = h.Calls[1:] }},
		{history.RuleUnseenSuccess, "the success of an attempt whose caller was gone", func(h *history.History) {
			h.Calls[0].Answer = history.AnswerCut
		}},
		{history.RuleFalseFailure, "a failure that the target did not see", func(h *history.History) {
			h.Calls[4].Answer = history.AnswerOK
		}},
		{history.RuleFalseFailure, "a time-out of a target that answered in time", func(h *history.History) {
			row(h, "grid-1-0").Status = "TIMEOUT"
		}},
		{history.RuleFalseFailure, "a failure without a call", func(h *history.History) { row(h, "grid-9-0").Attempt = 2 }},
		{history.RuleEarly, "a call before its time", func(h *history.History) {
			h.Calls[1].Start = h.Calls[1].Start.Add(-time.Second)
		}},
		{history.RuleRanAgain, "a run begun again that must not be", func(h *history.History) {
			again := h.Calls[len(h.Calls)-1]
			again.Attempt, again.Token, again.Start, again.End = 2, 2, begin.Add(time.Second), begin.Add(2*time.Second)
			h.Calls = append(h.Calls, again)
		}},
		{history.RuleTwoAttempts, "a second attempt beside the first one", func(h *history.History) {
			h.Calls[6].Start = begin.Add(200 * time.Millisecond)
		}},
		{history.RuleTokenFell, "an old token that the target refused", func(h *history.History) {
			h.Calls[8].Answer = history.AnswerRefused
		}},
		{history.RuleTokenFell, "a second attempt with the first one's token", func(h *history.History) {
			h.Calls[6].Token = h.Calls[5].Token
		}},
		{history.RuleTokenFell, "a fire with a smaller number than the one before", func(h *history.History) {
			h.Calls[10].Token = 1
		}},
		{history.RuleOverlap, "two serial runs at once", func(h *history.History) {
			h.Calls[6].End = begin.Add(1200 * time.Millisecond)
		}},
		{history.RuleLostTrigger, "an acknowledged trigger without a run", func(h *history.History) { without(h, "hand-1") }},
		{history.RuleLostTrigger, "one key, two runs", func(h *history.History) {
			h.Triggers = append(h.Triggers, history.Trigger{Key: "k", JobID: "hand", Execution: "grid-0-0"})
		}},
		{history.RuleLostTrigger, "a run by hand that nobody asked for", func(h *history.History) { h.Triggers = nil }},
		{history.RuleEarlyDead, "dead at the first attempt", func(h *history.History) { row(h, "serial-1-0").Attempt = 1 }},
		{history.RuleNotFollowed, "an end that started nothing", func(h *history.History) { without(h, "end-0") }},
		{history.RuleNotFollowed, "an end that started another job", func(h *history.History) {
			row(h, "end-0").JobID = "good"
		}},
		{history.RuleFollowedTwice, "an end that started a job twice", func(h *history.History) {
			again := *row(h, "end-0")
			again.ID, again.FireKey = "end-1", "next again"
			h.Rows = append(h.Rows, again)
		}},
		{history.RuleFollowedTwice, "a start that follows another outcome", func(h *history.History) {
			h.Rows = append(h.Rows, history.Row{
				ID: "good-0", JobID: "good", FireKey: "next", Trigger: "DEPENDENCY", StartedBy: "first-0-0", Status: "SUCCESS",
			})
		}},
		{history.RuleFollowedTwice, "a start that follows nothing", func(h *history.History) {
			row(h, "end-0").StartedBy = "nobody"
		}},
		{history.RuleMissingShard, "a start without a shard", func(h *history.History) { without(h, "bad-1") }},
		{history.RuleShortRest, "a fixed delay cut short", func(h *history.History) {
			h.Calls[10].Start = begin.Add(200 * time.Millisecond)
		}},
	}
	covered := map[string]bool{}
	for _, s := range seeds {
		covered[s.rule] = true
		t.Run(s.what, func(t *testing.T) {
			h := goodHistory()
			s.seed(&h)
			require.Contains(t, broken(h), s.rule)
		})
	}
	for _, s := range append(clusterSeeds(), fenceSeeds()...) {
		covered[s.rule] = true
		t.Run(s.what, func(t *testing.T) {
			h := goodCluster()
			s.seed(&h)
			require.Contains(t, broken(h), s.rule)
		})
	}
	for _, rule := range history.Rules() {
		require.True(t, covered[rule], "no violation of %q is seeded", rule)
	}
}

// broken lists the rules that a history breaks.
func broken(h history.History) []string {
	var rules []string
	for _, v := range history.Check(h) {
		rules = append(rules, v.Rule)
	}
	return rules
}
