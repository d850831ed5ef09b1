package dryrun_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// A dry run raises the alerts of its rule, whatever the fires were, and however late the rule was
// asked.
func TestARuleAndItsDryRunAgree(t *testing.T) {
	for _, rule := range []alert.Rule{
		{Type: alert.JobFailed},
		{Type: alert.ConsecutiveFailures, Threshold: 3},
		{Type: alert.FailureRate, Threshold: 0.5, WindowSec: 600},
	} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(rule.Type, seed), func(t *testing.T) {
				rule := rule
				rule.Head, rule.Level, rule.Notify = alertingtest.Head("rule"), alert.Warning, alert.NotifyFirst
				d := alertingtest.New(t)
				alertingtest.Set(d, alert.KindRule, &rule)
				random := rand.New(rand.NewPCG(seed, 7))
				shards := []int{1, 2, 5, 300}[seed%4]
				job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) { j.ShardCount = shards }))
				late := seed >= 4
				bad := random.Float64()
				for range fires(shards) {
					d.Clock.Advance(time.Duration(random.IntN(60_000)) * time.Millisecond)
					playFire(d, job, shards, random, bad)
					if !late {
						judgeNow(t, d)
					}
				}
				d.Clock.Advance(time.Second)
				if late {
					judgeNow(t, d)
				}
				report, err := dryrun.New(dryrun.Deps{
					Runs: d.Store.Executions, Jobs: d.Store, Metrics: d.Store, Expressions: expression.Language{}, Clock: d.Clock,
					Zone: time.UTC, Grace: time.Minute,
				}).DryRun(t.Context(), &rule, enginetest.Noon, d.Clock.Now())
				require.NoError(t, err)
				if late { // a rule that is asked at the end counts what the dry run tells apart
					require.Equal(t, report.Evidence, evidence(d.Alerts()))
					return
				}
				require.Equal(t, summary(d.Alerts()), summary(report.Alerts))
			})
		}
	}
}

// fires is how many fires are played: few of many shards are more pages of rows than many of few.
func fires(shards int) int {
	if shards > 100 {
		return 12
	}
	return 40
}

// playFire stores a fire that ends now; its shards end some milliseconds apart.
func playFire(d *alertingtest.Desk, job *entity.Job, shards int, random *rand.Rand, bad float64) {
	d.T.Helper()
	now := d.Clock.Now()
	failed := random.Float64() < bad
	var rows []*entity.Execution
	for i := range shards {
		status := entity.StatusSuccess
		if failed && (i == 0 || random.IntN(4) == 0) {
			status = entity.StatusFailed
		}
		at := now.Add(time.Duration(i) * time.Millisecond)
		rows = append(rows, &entity.Execution{
			ID: identity.ExecutionID(now, job.ID, identity.FireKey(now), i), JobID: job.ID, FireKey: identity.FireKey(now),
			ScheduledTime: now, DueTime: now, Trigger: entity.TriggerSchedule, ShardIndex: i, ShardTotal: shards,
			JobVersion: 1, Priority: 5, Status: status, Attempt: 1, StartTime: now, EndTime: at, CreateTime: now, UpdateTime: at,
		})
	}
	d.Clock.Advance(time.Duration(shards) * time.Millisecond)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, rows); err != nil {
			return err
		}
		for _, e := range rows {
			if e.Status == entity.StatusSuccess {
				continue
			}
			if err := alertingtest.AddEvent(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// judgeNow lets the rules judge all that waits, and end what is over.
func judgeNow(t *testing.T, d *alertingtest.Desk) {
	t.Helper()
	for more := true; more; {
		var err error
		_, more, err = d.Leader(d.Faults).RunOnce(t.Context())
		require.NoError(t, err)
	}
	_, err := d.Leader(d.Faults).Recover(t.Context())
	require.NoError(t, err)
}

func summary(all []*alert.Alert) (out []string) {
	for _, a := range all {
		out = append(out, fmt.Sprint(a.Status, a.Resolution, a.Count, a.LastTime.UTC(), a.EvidenceUntil.UTC(), a.Content))
	}
	return out
}

func evidence(all []*alert.Alert) (n int) {
	for _, a := range all {
		n += a.Count
	}
	return n
}
