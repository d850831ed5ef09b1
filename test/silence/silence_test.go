package silence_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/silence"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// run is one shard of a fire that ended some seconds after noon.
func run(job, fire, status string, sec, shards int) silence.Run {
	at := noon.Add(time.Duration(sec) * time.Second)
	return silence.Run{
		ID: fmt.Sprintf("%s-%s-%04d", job, fire, sec), Job: job, Fire: fire, Status: status, Shards: shards,
		Made: at.Add(-time.Second), Ended: at,
	}
}

// sound is a history in which nothing is silent: one job that failed, one that recovered, one of
// two shards, one that overlaps, and a message.
func sound() silence.History {
	skipped := run("slow", "f2", "SKIPPED", 11, 1)
	skipped.Reason, skipped.Made = "OVERLAP", noon.Add(11*time.Second)
	long := run("slow", "f1", "SUCCESS", 20, 1)
	long.Made = noon
	all := func(string) bool { return true }
	due := func(r silence.Run) silence.Run {
		r.Due = r.Made.Truncate(5 * time.Second) // all shards of a fire have one
		return r
	}
	left := run("counts", "f9", "SKIPPED", 40, 1)
	left.Range, left.Skips = true, 7
	return silence.History{
		Runs: []silence.Run{
			run("bad", "f1", "SUCCESS", 1, 1), run("bad", "f2", "FAILED", 2, 1), run("bad", "f3", "TIMEOUT", 3, 1),
			run("good", "f1", "FAILED", 1, 1), run("good", "f2", "SUCCESS", 2, 1),
			run("half", "f1", "FAILED", 5, 2), run("half", "f1", "SUCCESS", 9, 2), long, skipped,
			due(run("late", "f1", "SUCCESS", 5, 1)), due(run("late", "f2", "FAILED", 20, 1)),
			due(run("made up", "f1", "FAILED", 20, 1)), due(run("made up", "f2", "SUCCESS", 50, 1)),
			due(run("kept", "f1", "FAILED", 10, 2)), due(run("kept", "f1", "SUCCESS", 11, 2)),
			due(run("kept", "f2", "SUCCESS", 22, 2)), due(run("kept", "f2", "SUCCESS", 23, 2)),
			run("counts", "f1", "SUCCESS", 1, 2), run("counts", "f1", "FAILED", 2, 2),
			run("counts", "f2", "SUCCESS", 3, 2), run("counts", "f2", "SUCCESS", 4, 2), left,
		},
		Rules: []silence.Rule{
			{ID: "any", InARow: 1, Sees: all},
			{ID: "two", InARow: 2, Sees: all},
			{ID: "deadline", Sees: all},
		},
		Deadlines: []silence.Deadline{
			{Job: "late", At: noon.Add(30 * time.Second)},
			{Job: "made up", At: noon.Add(30 * time.Second)},
			{Job: "kept", At: noon.Add(30 * time.Second)},
		},
		Statistics: []silence.Statistic{{Job: "counts", Runs: 2, Success: 1, Failed: 1, Skipped: 7}},
		Alerts: []silence.Alert{
			{ID: "a1", Rule: "any", Job: "bad", Open: true},
			{ID: "a2", Rule: "two", Job: "bad", Open: true},
			{ID: "a3", Rule: "any", Job: "good"},
			{ID: "a4", Rule: "any", Job: "half", Open: true},
			{ID: "a5", Rule: "any", Job: "late", Open: true},
			{ID: "a6", Rule: "deadline", Job: "late", Open: true},
			{ID: "a7", Rule: "deadline", Job: "made up"},
		},
		Messages: []silence.Message{{ID: "m1", Sent: true, Named: []string{"a1", "a3"}}, {ID: "m2", Named: []string{"a2"}}},
		Receipts: []silence.Receipt{{Message: "m1", Named: []string{"a1", "a3"}}, {Message: "m1", Named: []string{"a1"}}},
	}
}

func TestASoundHistoryBreaksNothing(t *testing.T) { require.Empty(t, silence.Check(sound())) }

// Each kind of silence is found, and told once.
func TestEachSilenceIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(h *silence.History)
		want  string
	}{
		"a failure without an alert": {
			func(h *silence.History) { h.Alerts[0].Open = false },
			"the last 2 fires of the job bad failed, and 0 alerts of the rule any are open",
		},
		"failures in a row without an alert": {
			func(h *silence.History) { h.Alerts = append(h.Alerts[:1], h.Alerts[2:]...) },
			"the last 2 fires of the job bad failed, and 0 alerts of the rule two are open",
		},
		"an alert that a success did not end": {
			func(h *silence.History) { h.Alerts[2].Open = true },
			"the last 0 fires of the job good failed, and 1 alerts of the rule any are open",
		},
		"a failed shard without an alert": {
			func(h *silence.History) { h.Alerts[3].Open = false },
			"the last 1 fires of the job half failed, and 0 alerts of the rule any are open",
		},
		"two alerts of one thing": {
			func(h *silence.History) { h.Alerts = append(h.Alerts, h.Alerts[3]) },
			"the last 1 fires of the job half failed, and 2 alerts of the rule any are open",
		},
		"a fire that fewer failed than the rule asks for": {
			func(h *silence.History) {
				h.Alerts = append(h.Alerts, silence.Alert{ID: "x", Rule: "two", Job: "half", Open: true})
			},
			"the last 1 fires of the job half failed, and 1 alerts of the rule two are open",
		},
		"a missed deadline without an alert": {
			func(h *silence.History) { h.Alerts[5].Open = false },
			"the deadline 12:00:30 of the job late was missed, and 0 alerts of the rule deadline are open",
		},
		"a missed deadline that a success did not end": {
			func(h *silence.History) { h.Alerts[6].Open = true },
			"the deadline 12:00:30 of the job made up was kept, or made up for, and 1 alerts of the rule deadline are open",
		},
		"a deadline that was kept, with an alert": {
			func(h *silence.History) {
				h.Alerts = append(h.Alerts, silence.Alert{ID: "x", Rule: "deadline", Job: "kept", Open: true})
			},
			"the deadline 12:00:30 of the job kept was kept, or made up for, and 1 alerts of the rule deadline are open",
		},
		"a fire that is counted by its best shard": {
			func(h *silence.History) { h.Statistics[0].Success, h.Statistics[0].Failed = 2, 0 },
			"the rows of the job counts come to {Job:counts Runs:2 Success:1 Failed:1",
		},
		"a range that counts once": {
			func(h *silence.History) { h.Statistics[0].Skipped = 1 },
			"Skipped:7}, and the statistics say",
		},
		"an overlap with nothing": {
			func(h *silence.History) { h.Runs[7].Ended = noon.Add(5 * time.Second) },
			"for an overlap, and nothing was live",
		},
		"a message that named less than is said": {
			func(h *silence.History) { h.Receipts[0].Named = []string{"a1"} },
			"the message m1 is said to have named the alert a3, and no body held it",
		},
		"a message that never came": {
			func(h *silence.History) { h.Messages[1].Sent = true },
			"the message m2 is said to have named the alert a2, and no body held it",
		},
		"a message that named more": {
			func(h *silence.History) { h.Receipts[0].Named = append(h.Receipts[0].Named, "a9") },
			"a body of the message m1 named the alert a9, of which the store knows nothing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := sound()
			c.spoil(&h)
			broken := silence.Check(h)
			require.Len(t, broken, 1)
			require.Contains(t, broken[0], c.want)
		})
	}
}

// The check ignores rows dated while the clock is off, and no others.
func TestDatesOfAStepAreNotJudged(t *testing.T) {
	spoiled := func(steps ...silence.Step) []string {
		h := sound()
		h.Runs[7].Ended = noon.Add(5 * time.Second)
		h.Alerts[5].Open, h.Steps = false, steps
		return silence.Check(h)
	}
	require.Len(t, spoiled(), 2)
	sec := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	require.Len(t, spoiled(silence.Step{From: sec(8), Until: sec(10), By: time.Second}), 1, "the overlap")
	require.Empty(t, spoiled(silence.Step{From: sec(12), Until: sec(15), By: 20 * time.Second}))
	require.Len(t, spoiled(silence.Step{From: sec(200), Until: sec(210), By: 20 * time.Second}), 2)
}
