package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// edited is a job that fired each second for four seconds, and each two seconds from the fifth on. From the fourth to
// the sixth second nobody can say which schedule decided.
func edited(seconds ...int) history.History {
	h := history.History{Jobs: []history.Job{{
		ID: "edited", Name: "edited", Shards: 1, Step: 2 * time.Second, Origin: begin, From: begin.Add(6 * time.Second),
		Until: begin.Add(10 * time.Second),
		Former: []history.Grid{
			{Step: time.Second, Origin: begin, From: begin, Until: begin.Add(4 * time.Second)},
		},
	}}}
	for _, second := range seconds {
		at := begin.Add(time.Duration(second) * time.Second)
		h.Rows = append(h.Rows, history.Row{
			ID: at.String(), JobID: "edited", FireKey: at.String(), ScheduledTime: at, Trigger: "SCHEDULE", Status: "SUCCESS",
			ShardTotal: 1, Attempt: 1,
		})
	}
	return h
}

func TestEachScheduleOfAJobIsAccountedFor(t *testing.T) {
	for name, c := range map[string]struct {
		h    history.History
		want []string
	}{
		"good":                  {edited(0, 1, 2, 3, 6, 8), nil},
		"either between":        {edited(0, 1, 2, 3, 4, 5, 6, 8), nil},
		"missing of the former": {edited(0, 1, 3, 6, 8), []string{history.RuleMissingFire}},
		"missing of the latter": {edited(0, 1, 2, 3, 8), []string{history.RuleMissingFire}},
		"of the former, later":  {edited(0, 1, 2, 3, 6, 7, 8), []string{history.RuleExtraFire}},
		"twice between": {edited(0, 1, 2, 3, 5, 5, 6, 8), []string{
			history.RuleDoubleRow, history.RuleDecidedTwice,
		}},
	} {
		var rules []string
		for _, v := range history.Check(c.h) {
			rules = append(rules, v.Rule)
		}
		require.Equal(t, c.want, rules, name)
	}
	h := edited(0, 1, 8)
	h.Rows = append(h.Rows, history.Row{
		ID: "range", JobID: "edited", FireKey: "range", ScheduledTime: begin.Add(2 * time.Second), Trigger: "SCHEDULE",
		Status: "SKIPPED", Reason: "MISFIRE", SkipFrom: begin.Add(2 * time.Second), SkipTo: begin.Add(4 * time.Second),
		SkipCount: 2,
	}, history.Row{
		ID: "later", JobID: "edited", FireKey: "later", ScheduledTime: begin.Add(6 * time.Second), Trigger: "SCHEDULE",
		Status: "SKIPPED", Reason: "PAUSED", SkipFrom: begin.Add(6 * time.Second), SkipTo: begin.Add(8 * time.Second),
		SkipCount: 1,
	})
	require.Empty(t, history.Check(h), "a range is of the schedule of its begin")
}
