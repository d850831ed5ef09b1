package alerting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// One success ends what is about single runs, and no rate that is still above its line.
func TestWhatEndsAnEpisode(t *testing.T) {
	runs := func(statuses ...entity.Status) (out []alerting.Run) { // the newest first
		for i, s := range statuses {
			out = append(out, alerting.Run{ExecutionID: string(rune('a' + i)), Status: s, At: at(-i)})
		}
		return out
	}
	good, bad := entity.StatusSuccess, entity.StatusFailed
	rate := rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.5, 60 })
	for name, c := range map[string]struct {
		rule *alert.Rule
		runs []alerting.Run
		want bool
	}{
		"a success":                 {rule(alert.JobFailed, nil), runs(good, bad), true},
		"a failure":                 {rule(alert.JobFailed, nil), runs(bad, good), false},
		"no run":                    {rule(alert.JobFailed, nil), nil, false},
		"a rate above its line":     {rate, runs(good, bad, good, bad, bad), false},
		"a rate below its line":     {rate, runs(good, bad, good, bad, good), true},
		"a rate of few runs":        {rate, runs(good, bad, bad, bad), true},
		"more failures than usual":  {rule(alert.FailingMore, nil), runs(good, good, good), false},
		"a slow run, and a success": {rule(alert.SlowRun, nil), runs(good), true},
	} {
		_, ended := alerting.EndedBy(&alert.Alert{Type: c.rule.Type, EvidenceUntil: at(-1)}, c.rule, c.runs)
		require.Equal(t, c.want, ended, name)
	}
	_, ended := alerting.EndedBy(&alert.Alert{Type: alert.FailureRate, EvidenceUntil: at(-1)}, nil,
		runs(good, bad, bad, bad, bad, bad))
	require.True(t, ended, "nobody knows the line any more")
}
