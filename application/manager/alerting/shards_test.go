package alerting_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// shardCounts are the numbers of shards for which the test compares results.
var shardCounts = []int{1, 100, 250, 400, 1024}

// fire stores a fire of many shards that ends now, with the events of the shards that did not succeed.
func (d *desk) fire(job *entity.Job, shards int, status entity.Status) []*entity.Execution {
	d.T.Helper()
	now := d.Clock.Now()
	execs := make([]*entity.Execution, shards)
	for i := range execs {
		execs[i] = &entity.Execution{
			ID: identity.ExecutionID(now, job.ID, identity.FireKey(now), i), JobID: job.ID, FireKey: identity.FireKey(now),
			ScheduledTime: now, DueTime: now, Trigger: entity.TriggerSchedule, ShardIndex: i, ShardTotal: shards,
			JobVersion: 1, Priority: 5, Status: status, Attempt: 1, StartTime: now, CreateTime: now, UpdateTime: now,
		}
		if status.Final() {
			execs[i].EndTime = now
		}
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, execs); err != nil || status == entity.StatusSuccess || !status.Final() {
			return err
		}
		for _, e := range execs {
			if err := alertingtest.AddEvent(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return execs
}

func (d *desk) sharded(shards int) *entity.Job {
	d.T.Helper()
	return d.Add(d.T, enginetest.Job("settle", func(j *entity.Job) { j.ShardCount = shards }))
}

// evaluateAll takes turns until no event waits.
func (d *desk) evaluateAll() {
	d.T.Helper()
	for range 100 {
		_, more, err := d.Leader(d.Faults).RunOnce(d.T.Context())
		require.NoError(d.T, err)
		if !more {
			return
		}
	}
	d.T.Fatal("events wait for ever")
}

// Rules count fires, however many shards these have.
func TestRulesJudgeFiresOfAnyNumberOfShards(t *testing.T) {
	for _, shards := range shardCounts {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
			d.Rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.5, 3600 })
			job := d.sharded(shards)
			open := func() (types []alert.RuleType) {
				for _, a := range d.Alerts() {
					if a.Open() {
						types = append(types, a.Type)
					}
				}
				return types
			}
			for n := range 5 {
				d.fire(job, shards, entity.StatusFailed)
				d.evaluateAll()
				want := [][]alert.RuleType{
					nil, nil,
					{alert.ConsecutiveFailures},
					{alert.ConsecutiveFailures},
					{alert.ConsecutiveFailures, alert.FailureRate},
				}[n]
				require.ElementsMatch(t, want, open(), "after %d failed fires", n+1)
				d.Clock.Advance(time.Minute)
			}
			for n := range 6 {
				d.fire(job, shards, entity.StatusSuccess)
				d.Clock.Advance(time.Minute)
				_, err := d.Leader(d.Faults).Recover(t.Context())
				require.NoError(t, err)
				want := []alert.RuleType{alert.FailureRate}
				if n == 5 { // 5 of 11 have failed
					want = nil
				}
				require.ElementsMatch(t, want, open(), "after %d successes", n+1)
			}
		})
	}
}

// Live fires, and later fires, hide no failure and no success.
func TestRunsThatGoOnHideNothing(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
	job := d.sharded(1)
	for range 3 {
		d.End(job, entity.StatusFailed)
		d.Clock.Advance(time.Second)
	}
	d.manyRuns(job, 1100, entity.StatusRunning)
	d.manyRuns(job, 1100, entity.StatusSuccess)
	d.Evaluate()
	require.Equal(t, alert.Firing, d.One().Status, "the events come late, behind 2,200 newer rows")

	d.End(job, entity.StatusSuccess)
	d.manyRuns(job, 2500, entity.StatusRunning)
	_, err := d.Leader(d.Faults).Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, alert.Resolved, d.One().Status, "a success ends it while 2,500 later runs go on")
}

// manyRuns adds runs, ten milliseconds apart.
func (d *desk) manyRuns(job *entity.Job, n int, status entity.Status) {
	d.T.Helper()
	var rows []*entity.Execution
	for range n {
		now := d.Clock.Now()
		rows = append(rows, &entity.Execution{
			ID: identity.RandomID(now), JobID: job.ID, FireKey: fmt.Sprint("k", now.UnixMilli()), ScheduledTime: now,
			DueTime: now, Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: status, Attempt: 1,
			StartTime: now, CreateTime: now, UpdateTime: now,
		})
		d.Clock.Advance(10 * time.Millisecond)
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, rows) })
}

// A fire of many shards keeps its deadline only if all shards do. If it misses the deadline, all shards are stopped.
func TestADeadlineOfAnyNumberOfShards(t *testing.T) {
	for _, shards := range shardCounts {
		for _, status := range []entity.Status{entity.StatusSuccess, entity.StatusRunning} {
			t.Run(fmt.Sprint(shards, status), func(t *testing.T) {
				d := newDesk(t) // a job with a deadline brings its rule
				job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) {
					j.ShardCount = shards
					j.Deadline = entity.JobDeadline{At: "13:00", TimeZone: "UTC", OnMiss: entity.MissCancel}
				}))
				execs := d.fire(job, shards, status)
				d.Write(t, func(ctx context.Context, tx repository.Tx) error {
					return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{{
						Moment: d.Clock.Now().Add(time.Hour), JobID: job.ID, FireKey: execs[0].FireKey, ScheduledTime: d.Clock.Now(),
					}})
				})
				d.manyRuns(job, 1100, entity.StatusFailed)
				d.Clock.Advance(time.Hour)
				leader := d.Leader(d.Faults)
				stopped := map[string]bool{}
				leader.Cancel = func(_ context.Context, id string) error { stopped[id] = true; return nil }
				_, err := leader.Deadlines(t.Context())
				require.NoError(t, err)
				if status == entity.StatusSuccess {
					require.Empty(t, d.Alerts())
					require.Empty(t, stopped)
					return
				}
				require.Equal(t, alert.DeadlineMissed, d.One().Type)
				require.Len(t, stopped, shards)
			})
		}
	}
}

// One row that cannot be read stops no rule, neither of its own job nor of another.
func TestAnUnreadableRowStopsNoRule(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := &desk{&alertingtest.Desk{Node: enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{}), T: t}}
		d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
		bad, good := d.Add(t, enginetest.Job("a", nil)), d.Add(t, enginetest.Job("b", nil))
		spoilt := d.End(bad, entity.StatusFailed)
		for range 3 {
			d.Clock.Advance(time.Second)
			d.End(bad, entity.StatusFailed)
			d.End(good, entity.StatusFailed)
		}
		spoil(t, cfg, "UPDATE scheduler_job_execution SET shard_id = 'x/y/z' WHERE id = '"+spoilt.ID+"'")
		d.Evaluate()
		require.Len(t, d.Alerts(), 2)
		require.NotEmpty(t, d.Store.Unreadable(), "it is counted and shown")
	})
}

// spoil writes past the store.
func spoil(t *testing.T, cfg persistence.Config, query string) {
	t.Helper()
	driver, source := "mysql", cfg.DSN
	if source == "" {
		driver, source = "sqlite", cfg.Path
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Exec(query)
	require.NoError(t, err)
}
