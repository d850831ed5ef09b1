package alerting_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

func says(text string) func(r *alert.Rule) { return func(r *alert.Rule) { r.Expression = text } }

// An expression sees the execution, the job, its day and what is usual for it.
func TestAnExpressionSeesItsFacts(t *testing.T) {
	for text, want := range map[string]bool{
		`status == "FAILED" && job.name == "settle" && job.labels["tier"] == "1"`: true,
		`status == "FAILED" && message contains "oom"`:                            true,
		`status == "FAILED" && durationMs > 90000`:                                true,
		`status == "FAILED" && durationMs > 90001`:                                false,
		`status == "FAILED" && job.group == "risk"`:                               false,
		`day.runs == 20 && day.failed == 5 && day.failureRate == 0.25`:            true,
		`day.runs == 20 && day.meanMs > 3000`:                                     false,
		`usual.runs >= 12 && durationMs > 10 * usual.ms`:                          true,
	} {
		t.Run(text, func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.Expression, says(text))
			job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) { j.Labels = map[string]string{"tier": "1"} }))
			id, ok := identity.Bytes(job.ID)
			require.True(t, ok)
			var usual baseline.State
			for i := range 12 {
				usual.Learn(baseline.Run{
					Start: enginetest.Noon.Add(-time.Duration(i) * time.Hour), Duration: 3 * time.Second, Status: entity.StatusSuccess,
				})
			}
			rows := map[repository.SumKey]*statistics.StoredRow{}
			var keys []repository.SumKey
			for i, row := range []statistics.Row{
				{Runs: 12, Success: 8, Failed: 3, Dead: 1, DurationMs: 36_000},
				{Runs: 8, Success: 7, Timeout: 1, DurationMs: 24_000},
				{Runs: 100, Failed: 100}, // a day ago, and more
			} {
				key := repository.SumKey{
					Period: statistics.Hour, Job: id, Start: enginetest.Noon.Add(-[]time.Duration{0, 24, 25}[i] * time.Hour).
						UnixMilli(),
				}
				keys, rows[key] = append(keys, key), &statistics.StoredRow{Row: row}
			}
			d.Write(t, func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Statistics.PutSums(ctx, keys, rows); err != nil {
					return err
				}
				return tx.Statistics.PutBaselines(ctx, []repository.StoredBaseline{{Job: id, Data: usual.Append(nil)}})
			})
			e := d.End(job, entity.StatusFailed, func(e *entity.Execution) {
				e.ErrorMessage, e.Duration = "oom killed", 90_001*time.Millisecond
			})
			d.Evaluate()
			if !want {
				require.Empty(t, d.Alerts())
				return
			}
			a := d.One()
			require.Equal(t, []any{e.ID, job.ID, alert.Firing}, []any{a.ExecutionID, a.JobID, a.Status})
			require.Equal(t, text, a.Details["expression"])
			require.Equal(t, "90001", a.Details["durationMs"])
		})
	}
}

// A rule whose expression an older program has saved, and nobody understands, stops no
// other rule.
func TestAWrongExpressionStopsNoOtherRule(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Expression, says(`nonsense ==`))
	d.Rule(alert.JobFailed, nil)
	d.End(d.Add(t, enginetest.Job("settle", nil)), entity.StatusFailed)
	d.Evaluate()
	require.Equal(t, alert.JobFailed, d.One().Type)
}

func (d *desk) unusual(job *entity.Job, id string, f baseline.Finding, executionID string) {
	d.T.Helper()
	payload, err := json.Marshal(monitoring.UnusualData{
		JobID: job.ID, ExecutionID: executionID, EndTime: d.Clock.Now(), Finding: f, Sentence: f.Sentence(),
	})
	require.NoError(d.T, err)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddEvents(ctx, []entity.Event{{
			ID: id, Topic: entity.TopicJobs, Key: job.ID, Type: monitoring.EventUnusual, Payload: string(payload),
			CreateTime: d.Clock.Now(), Readers: entity.EventReaders{Rules: true},
		}})
	})
}

// A finding raises an alert of the rule of its name, which says why.
func TestFindingsRaiseAlerts(t *testing.T) {
	d := newDesk(t)
	for _, kind := range []alert.RuleType{alert.SlowRun, alert.FasterThanUsual, alert.FailingMore} {
		d.Rule(kind, nil)
	}
	job := d.Add(t, enginetest.Job("settle", nil))
	slow := baseline.Finding{Code: baseline.SlowRun, Params: baseline.Params{
		ValueMs: 9000, UsualMs: 3000, LowMs: 2000, HighMs: 4000, LimitMs: 5000, Runs: 40, Running: true,
	}}
	d.unusual(job, "slow:e1:1", slow, "e1")
	d.Evaluate()
	a := d.One()
	require.Equal(t, []any{alert.SlowRun, "e1", job.ID, 1}, []any{a.Type, a.ExecutionID, a.JobID, a.Count})
	require.Equal(t, "A slow run of the job settle. It has run for 9s. It usually takes 3s, nearly always from 2s to 4s, "+
		"by 40 runs. More than 5s is unusual.", a.Content)
	require.Equal(t, map[string]string{
		"job": "settle", "valueMs": "9000", "usualMs": "3000", "lowMs": "2000", "highMs": "4000", "limitMs": "5000",
		"runs": "40", "running": "true",
	}, a.Details)

	d.Clock.Advance(time.Minute)
	slow.Params.Running = false
	d.unusual(job, "unusual:1", slow, "") // the same run, when it has ended
	failing := baseline.Finding{Code: baseline.FailingMore, Params: baseline.Params{
		Failed: 5, Window: 8, UsualRate: 0.02, Runs: 60,
	}}
	d.unusual(job, "unusual:2", failing, "")
	d.unusual(job, "unusual:3", baseline.Finding{Code: baseline.FasterThanUsual}, "")
	d.Evaluate()
	found := d.Alerts()
	require.Len(t, found, 3)
	require.Equal(t, 2, found[0].Count)
	for _, a := range found[1:] {
		if a.Type == alert.FailingMore {
			require.Equal(t, "More failures than usual of the job settle. 5 of the last 8 runs failed. Usually 2 % of them "+
				"fail, by 60 runs before.", a.Content)
			require.Equal(t, "0.02", a.Details["usualRate"])
		}
	}
	d.Evaluate()
	require.Len(t, d.Alerts(), 3, "each event is taken once")
}
