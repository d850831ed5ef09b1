package alerting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	ok   = entity.StatusSuccess
	fail = entity.StatusFailed
	dead = entity.StatusDead
	late = entity.StatusTimeout
	skip = entity.StatusSkipped
)

func TestWhatAnEndIsEvidenceFor(t *testing.T) {
	threshold := func(n float64) func(r *alert.Rule) { return func(r *alert.Rule) { r.Threshold = n } }
	window := func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.5, 60 }
	for name, c := range map[string]struct {
		rule *alert.Rule
		end  alerting.End
		runs []alerting.Run
		want string
	}{
		"a failure": {
			rule(alert.JobFailed, nil), end(fail, entity.ReasonExitCode), nil, "The job settle failed: EXIT_CODE, boom.",
		},
		"a time-out fails": {
			rule(alert.JobFailed, nil), end(late, ""), nil, "The job settle failed: TIMEOUT, boom.",
		},
		"a dead letter fails": {rule(alert.JobFailed, nil), end(dead, ""), nil, "The job settle failed: DEAD, boom."},
		"a success":           {rule(alert.JobFailed, nil), end(ok, ""), nil, ""},
		"a skipped fire":      {rule(alert.JobFailed, nil), end(skip, entity.ReasonMisfire), nil, ""},
		"a cancelled run":     {rule(alert.JobFailed, nil), end(entity.StatusCancelled, ""), nil, ""},
		"told of success":     {rule(alert.JobSucceeded, nil), end(ok, ""), nil, "The job settle succeeded."},
		"told of no success":  {rule(alert.JobSucceeded, nil), end(fail, ""), nil, ""},
		"a time-out": {
			rule(alert.Timeout, nil), end(late, ""), nil, "A run of the job settle ran out of time.",
		},
		"a time-out of the last": {
			rule(alert.Timeout, nil), end(dead, entity.ReasonTimeout), nil, "A run of the job settle ran out of time.",
		},
		"another failure": {rule(alert.Timeout, nil), end(fail, ""), nil, ""},
		"dead": {
			rule(alert.DeadLetter, nil), end(dead, ""), nil, "A run of the job settle has used up its retries: DEAD, boom.",
		},
		"not dead": {rule(alert.DeadLetter, nil), end(fail, ""), nil, ""},
		"no node": {
			rule(alert.NoNode, nil), end(skip, entity.ReasonNoNode), nil, "No node could run the job settle.",
		},
		"overlap is as wanted": {rule(alert.NotFired, nil), end(skip, entity.ReasonOverlap), nil, ""},
		"a misfire did not run": {
			rule(alert.NotFired, nil), end(skip, entity.ReasonMisfire), nil, "The job settle did not run, once: MISFIRE.",
		},
		"two in a row": {
			rule(alert.ConsecutiveFailures, threshold(2)), end(fail, ""), runs(fail, dead, ok),
			"The last 2 runs of the job settle failed: FAILED, boom.",
		},
		"one in a row": {rule(alert.ConsecutiveFailures, threshold(2)), end(fail, ""), runs(fail, ok, fail), ""},
		"too few runs": {rule(alert.ConsecutiveFailures, threshold(2)), end(fail, ""), runs(fail), ""},
		"half of them": {
			rule(alert.FailureRate, window), end(fail, ""), runs(fail, ok, fail, ok, fail, ok),
			"3 of 6 runs of the job settle failed within 1m0s.",
		},
		"less than half":          {rule(alert.FailureRate, window), end(fail, ""), runs(fail, ok, fail, ok, ok), ""},
		"too few for a rate":      {rule(alert.FailureRate, window), end(fail, ""), runs(fail, fail, fail, fail), ""},
		"a rate asks at failures": {rule(alert.FailureRate, window), end(ok, ""), runs(ok, fail, fail, fail, fail), ""},
		"switched off": {
			rule(alert.JobFailed, func(r *alert.Rule) { r.Enabled = false }), end(fail, ""), nil, "",
		},
		"another group": {
			rule(alert.JobFailed, func(r *alert.Rule) { r.Group = "risk" }), end(fail, ""), nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, found := alerting.OnEnd(c.rule, pay, c.end, alerting.Past{Runs: c.runs})
			require.Equal(t, c.want != "", found)
			if found {
				require.Equal(t, c.want, s.Content)
				require.Equal(t, []any{"j1", "pay", "e1", "e1", noon}, []any{s.JobID, s.Group, s.ExecutionID, s.Evidence, s.At})
				require.Equal(t, map[string]string{"tier": "1", "job": "settle"}, s.Labels)
			}
		})
	}
}

func TestRunsOutsideOfTheWindowDoNotCount(t *testing.T) {
	r := rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 1, 60 })
	all := runs(fail, fail, fail, fail, fail, ok)
	_, found := alerting.OnEnd(r, pay, end(fail, ""), alerting.Past{Runs: all})
	require.False(t, found)
	all[5].At = at(-61)
	_, found = alerting.OnEnd(r, pay, end(fail, ""), alerting.Past{Runs: all})
	require.True(t, found)
}

func TestALongErrorIsCut(t *testing.T) {
	e := end(fail, "")
	e.Message = strings.Repeat("ä", 1000)
	s, _ := alerting.OnEnd(rule(alert.JobFailed, nil), pay, e, alerting.Past{})
	require.Equal(t, strings.Repeat("ä", 250)+"…", s.Details["message"])
}

// The shards of a fire are one run, with the worst of their states.
func TestRunsAreWholeFires(t *testing.T) {
	shard := func(id, fire string, of int, status entity.Status, sec int) *entity.Execution {
		return &entity.Execution{ID: id, FireKey: fire, ShardTotal: of, Status: status, EndTime: at(sec)}
	}
	again := shard("again", "f1", 3, ok, 50)
	again.RetryOf = "a"
	span := shard("range", "f9", 1, skip, 90)
	span.SkipTo = noon
	got := runsOf([]*entity.Execution{
		span, shard("live", "f4", 2, ok, 40), shard("live2", "f4", 2, entity.StatusRunning, 0), again,
		shard("c", "f3", 1, skip, 30), shard("d", "f2", 2, ok, 20), shard("e", "f2", 2, dead, 22),
		shard("half", "f1", 3, ok, 10),
	})
	require.Equal(t, []alerting.Run{
		{ExecutionID: "again", Status: ok, At: at(50)}, {ExecutionID: "e", Status: dead, At: at(22)},
	}, got)
}

func TestARecoveryIsNewerThanAllEvidence(t *testing.T) {
	_, yes := alerting.RecoveredBy(runs(ok, fail), at(-1))
	require.True(t, yes)
	_, yes = alerting.RecoveredBy(runs(ok, fail), noon)
	require.True(t, yes, "it was stored with the latest evidence, and is the later fire")
	_, yes = alerting.RecoveredBy(runs(ok, fail), at(1))
	require.False(t, yes, "it ended before the latest evidence")
	_, yes = alerting.RecoveredBy(runs(fail, ok), at(-10))
	require.False(t, yes, "it failed again")
	_, yes = alerting.RecoveredBy(nil, noon)
	require.False(t, yes)
}
