package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// stepped is a good cluster whose store was an hour behind and then ten seconds ahead, with a fire in each time: a run
// that a death met, and a call that the store's clock let begin early.
func stepped() history.History {
	h := goodCluster()
	step := func(by time.Duration, from, until int) {
		h.Cluster.Steps = append(h.Cluster.Steps, history.Step{
			By: by, From: at(from), Seen: at(from + 100), Back: at(until - 100), Until: at(until),
		})
	}
	step(-time.Hour, 14_000, 28_000)
	step(10*time.Second, 29_500, 33_000)
	r := row(&h, "died")
	r.EndTime = at(16_000).Add(-time.Hour)
	early := history.Row{
		ID: "early", JobID: "two", FireKey: "early", Trigger: "SCHEDULE", Status: "SUCCESS", Attempt: 1, ShardTotal: 1,
		ScheduledTime: at(41_000), CreateTime: at(41_100), EndTime: at(41_200),
	}
	h.Rows = append(h.Rows, early)
	h.Calls = append(h.Calls, history.Call{
		Execution: "early", Job: "two", Attempt: 1, Start: at(32_500), End: at(32_600), Answer: history.AnswerOK,
	})
	return h
}

func of(h history.History, rule string) (n int) {
	for _, v := range history.Check(h) {
		if v.Rule == rule {
			n++
		}
	}
	return n
}

func TestRowsAreReadByTheClockOfTheirStore(t *testing.T) {
	h := stepped()
	require.Zero(t, of(h, history.RuleEarly), "the store's clock was ahead")
	require.Zero(t, of(h, history.RuleLateRetry))

	h.Cluster.Steps[1].By = 5 * time.Second
	require.Equal(t, 1, of(h, history.RuleEarly), "it was ahead by less")

	h = stepped()
	h.Cluster.Steps[1].Until = at(29_900)
	row(&h, "early").CreateTime = at(44_050)
	call := &h.Calls[len(h.Calls)-1]
	call.Start, call.End = at(34_100), at(34_200)
	require.Equal(t, 1, of(h, history.RuleEarly), "it was right again for longer than a node may take to ask")
}

// A run that was fired while the store's clock was ahead may wait for its slot until the clock is right again.
func TestAWaitingRunWasFiredByTheClockOfItsStore(t *testing.T) {
	h := stepped()
	call := &h.Calls[len(h.Calls)-1]
	call.Start, call.End = at(38_000), at(38_100)
	require.Zero(t, of(h, history.RuleEarly))

	row(&h, "early").CreateTime = at(38_000)
	require.Equal(t, 1, of(h, history.RuleEarly), "the clock was right when it was fired")
}

// A run that a death cut ended too late, whatever the clock of the store showed.
func TestARunThatEndsLateBesideAStepIsFound(t *testing.T) {
	h := stepped()
	r := row(&h, "died")
	r.Attempt, r.NodeID = 1, "a"
	h.Cluster.Faults = h.Cluster.Faults[:1] // no other fault gives it more time
	r.EndTime = at(27_000).Add(-time.Hour)
	require.Equal(t, 1, of(h, history.RuleLateRetry), "15 s had passed")
	r.EndTime = at(24_000).Add(-time.Hour)
	require.Zero(t, of(h, history.RuleLateRetry))
}

// A node that has not measured that the store's clock is right again dates a lost attempt by the time before, for two
// seconds.
func TestALostAttemptIsDatedByTheClockThatItsNodeMeasured(t *testing.T) {
	lost := func(end time.Time) int {
		h := stepped()
		h.Cluster.Faults = append(h.Cluster.Faults, history.Fault{
			Kind: "kill", Harm: history.HarmDeath, Node: "z", From: at(27_000), Until: at(27_100),
		})
		h.Rows = append(h.Rows, history.Row{
			ID: "gone", JobID: "lost", FireKey: "gone", Trigger: "MANUAL", Status: "FAILED", Reason: "NODE_LOST", NodeID: "z",
			Attempt: 1, ShardTotal: 1, CreateTime: at(26_900).Add(-time.Hour), EndTime: end.Add(-time.Hour),
		})
		return of(h, history.RuleOwnReason)
	}
	require.Zero(t, lost(at(27_500)))
	require.Zero(t, lost(at(30_000)), "its node had not asked again")
	require.Equal(t, 1, lost(at(32_500)), "it had asked")
}

// A node that cannot reach the store goes by the time before for longer.
func TestANodeThatCannotAskGoesByTheTimeBefore(t *testing.T) {
	lost := func(f history.Fault) int {
		h := stepped()
		f.Kind, f.Node, f.From, f.Until = "hole", "b", at(29_000), at(31_500)
		h.Cluster.Faults = append(h.Cluster.Faults, f, history.Fault{
			Kind: "kill", Harm: history.HarmDeath, Node: "z", From: at(27_000), Until: at(27_100),
		})
		h.Rows = append(h.Rows, history.Row{
			ID: "gone", JobID: "lost", FireKey: "gone", Trigger: "MANUAL", Status: "FAILED", Reason: "NODE_LOST", NodeID: "z",
			Attempt: 1, ShardTotal: 1, CreateTime: at(26_900).Add(-time.Hour), EndTime: at(33_000).Add(-time.Hour),
		})
		return of(h, history.RuleOwnReason)
	}
	require.Zero(t, lost(history.Fault{Store: true, Mute: true}))
	require.Equal(t, 1, lost(history.Fault{Store: true}), "the fault did not keep it from asking")
}

// A step shortens waits by its size, and by no more: one ahead, and one back until nodes have measured it.
func TestAStepShortensWaits(t *testing.T) {
	h := goodCluster()
	last := &h.Calls[0]
	for i := range h.Calls {
		if h.Calls[i].Job == "delay" {
			last = &h.Calls[i]
		}
	}
	h.Calls = append(h.Calls, history.Call{
		Execution: "soon", Job: "delay", Attempt: 1, Token: last.Token + 1, Start: last.End.Add(50 * time.Millisecond),
		End: last.End.Add(60 * time.Millisecond), Answer: history.AnswerOK,
	})
	rested := of(h, history.RuleShortRest)
	require.Positive(t, rested)
	step := history.Step{
		By: -time.Minute, From: last.End.Add(-time.Second), Seen: last.End.Add(-900 * time.Millisecond),
		Back: last.End.Add(-time.Millisecond), Until: last.End.Add(time.Millisecond),
	}
	h.Cluster.Steps = []history.Step{step}
	require.Equal(t, rested-1, of(h, history.RuleShortRest), "the clock came back from behind")
	h.Cluster.Steps[0].By = -100 * time.Millisecond
	require.Equal(t, rested, of(h, history.RuleShortRest), "it came back by less")
	h.Cluster.Steps[0] = history.Step{
		By: -time.Minute, From: last.End.Add(-2 * time.Second), Seen: last.End.Add(-2 * time.Second),
		Back: last.End.Add(time.Minute), Until: last.End.Add(time.Minute),
	}
	require.Equal(t, rested-1, of(h, history.RuleShortRest), "it was set back, and the node had not asked")
	h.Cluster.Steps[0].Seen = last.End.Add(-5 * time.Second)
	require.Equal(t, rested, of(h, history.RuleShortRest), "the node had asked")
	over := last.End.Add(-10 * time.Second)
	h.Cluster.Steps[0] = history.Step{By: step.By, From: over, Seen: over, Back: over, Until: over}
	require.Equal(t, rested, of(h, history.RuleShortRest), "long ago")
}

func TestARunMayEndInNoTimeBesideAStepAlone(t *testing.T) {
	h := goodCluster()
	h.Calls = append(h.Calls, history.Call{
		Execution: "over", Job: "work", Attempt: 1, Token: 1 << 40, Start: at(39_000), End: at(39_500),
		Answer: history.AnswerOK,
	})
	h.Rows = append(h.Rows, history.Row{
		ID: "over", JobID: "work", FireKey: "over", Trigger: "SCHEDULE", Status: "TIMEOUT", Reason: "TIMEOUT", Attempt: 1,
		ShardTotal: 1, ScheduledTime: at(39_000), CreateTime: at(39_000), StartTime: at(39_000), EndTime: at(39_600),
	})
	r := row(&h, "over")
	found := of(h, history.RuleFalseFailure)
	require.Positive(t, found)
	h.Cluster.Steps = []history.Step{{By: time.Hour, From: r.EndTime.Add(-time.Hour), Seen: r.EndTime, Back: r.EndTime.Add(
		time.Hour), Until: r.EndTime.Add(2 * time.Hour)}}
	require.Equal(t, found-1, of(h, history.RuleFalseFailure))
}

// The gaps of a history are read by the same clock.
func TestGapsAreReadByTheClockOfTheStore(t *testing.T) {
	require.NotPanics(t, func() { history.Gaps(stepped()) })
}
