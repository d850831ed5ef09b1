package alerting_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

func TestOlderRunsChangeNoVerdictOnceThereAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := runs(rapid.SliceOfN(rapid.SampledFrom([]entity.Status{ok, fail, dead}), 0, 40).Draw(t, "states")...)
		r := rule(alert.ConsecutiveFailures, nil)
		r.Threshold = float64(rapid.IntRange(2, 20).Draw(t, "in a row"))
		if rapid.Bool().Draw(t, "a rate") {
			r = rule(alert.FailureRate, nil)
			r.Threshold = rapid.Float64Range(0.01, 1).Draw(t, "share")
			r.WindowSec = rapid.IntRange(1, 30).Draw(t, "window")
		}
		e := end(fail, "")
		read := 0
		for read < len(all) && !alerting.EnoughRuns(r, e, all[:read]) {
			read++
		}
		want, found := alerting.OnEnd(r, pay, e, alerting.Past{Runs: all})
		got, foundToo := alerting.OnEnd(r, pay, e, alerting.Past{Runs: all[:read]})
		require.Equal(t, found, foundToo, "%d of %d runs", read, len(all))
		if found {
			require.Equal(t, want, got)
		}
	})
	three := rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
	require.False(t, alerting.EnoughRuns(three, end(fail, ""), runs(fail, fail)))
	require.True(t, alerting.EnoughRuns(three, end(fail, ""), runs(fail, ok)), "no older run makes them three in a row")
	require.True(t, alerting.EnoughRuns(rule(alert.JobFailed, nil), end(fail, ""), nil))
}
