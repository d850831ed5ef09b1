package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// The steps of a workflow run count for their own ids and not in the total. An item of a map, the word of a person and
// the result of a former run are no runs.
func TestStepsCountByTheirOwnIds(t *testing.T) {
	h := goodHistory()
	load, grid := identity.StepID("hand", "load"), identity.StepID("hand", "grid")
	rows := len(h.Rows)
	add := func(job, key, status, reason string, began bool) {
		r := history.Row{
			ID: "step-" + key + status + reason, JobID: job, FireKey: identity.StepKey("hand-1", key), Trigger: "DEPENDENCY",
			Status: status, Reason: reason, ScheduledTime: begin, CreateTime: begin, EndTime: begin,
		}
		if began {
			r.StartTime, r.Attempt = begin, 1
		}
		h.Rows = append(h.Rows, r)
	}
	add(load, "load", "SUCCESS", "", true)
	add(load, "load~2", "SUCCESS", "OPERATOR", false)
	add(load, "load~3", "SUCCESS", "REUSED", false)
	add(load, "load~4", "CANCELLED", "OPERATOR", true)
	add(load, "load~5", "SKIPPED", "CONDITION", false)
	add(grid, "grid", "FAILED", "STEP_FAILED", true)
	add(grid, "grid[0]", "FAILED", "ERROR", true)
	h.Total = &history.Statistic{Runs: 19, Success: 15, Failed: 2, Dead: 2, Skipped: 6}
	h.Statistics = append(h.Statistics, history.Statistic{JobID: load, Runs: 2, Success: 1, Cancelled: 1, Skipped: 1},
		history.Statistic{JobID: grid, Runs: 1, Failed: 1})
	require.Zero(t, of(h, history.RuleStatistics))
	for name, spoil := range map[string]func(){
		"a step that counts in the total": func() { h.Total.Runs++ },
		"an item that counts as a run":    func() { h.Statistics[len(h.Statistics)-1].Runs++ },
		"a word that counts as a run":     func() { h.Statistics[len(h.Statistics)-2].Success++ },
	} {
		total, figures := *h.Total, append([]history.Statistic(nil), h.Statistics...)
		spoil()
		require.Equal(t, 1, of(h, history.RuleStatistics), name)
		*h.Total, h.Statistics = total, figures
	}
	require.Len(t, h.Rows, rows+7)
}
