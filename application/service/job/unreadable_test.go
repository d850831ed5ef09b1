package job_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// damaged is a desk whose store a stranger writes into.
type damaged struct {
	*desk
	raw    *sql.DB
	counts map[string]int
}

// eachDamaged runs a test on every store. Typed columns are those of SQLite, which
// takes any value in each.
func eachDamaged(t *testing.T, test func(d damaged, typed bool)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		counts := map[string]int{}
		cfg.Clock, cfg.Unreadable = clocktest.NewManual(enginetest.Noon), func(kind string) { counts[kind]++ }
		driver, dsn := "mysql", cfg.DSN
		if cfg.Driver == "sqlite" {
			driver, dsn = "sqlite", "file:"+cfg.Path+"?_pragma=busy_timeout(5000)"
		}
		raw, err := sql.Open(driver, dsn)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, raw.Close()) })
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{Clock: cfg.Clock.(*clocktest.Manual)})
		test(damaged{&desk{servicetest.On(t, n)}, raw, counts}, cfg.Driver == "sqlite")
	})
}

func (d damaged) exec(query string, args ...any) {
	d.T.Helper()
	res, err := d.raw.ExecContext(d.T.Context(), query, args...)
	require.NoError(d.T, err)
	n, err := res.RowsAffected()
	require.NoError(d.T, err)
	require.EqualValues(d.T, 1, n)
}

// Rule 10: a job whose row cannot be read does not fire, is paused with the reason,
// and shows in lists as such. Everything else goes on.
func TestAJobThatCannotBeReadHoldsUpNothing(t *testing.T) {
	for column, c := range map[string]struct {
		value string
		typed bool
	}{
		"routing":      {`{"strategy":7}`, false},
		"retry_policy": {`{"maxRetries":"many"`, false},
		"labels":       {`["a","b"]`, false},
		"priority":     {"urgent", true},
		"interval_ms":  {"a while", true},
		"end_at":       {"some day", true},
	} {
		t.Run(column, func(t *testing.T) {
			eachDamaged(t, func(d damaged, typed bool) {
				t := d.T
				if c.typed && !typed {
					return
				}
				d.Start(t)
				var all []*entity.Job
				for i := range 5 {
					all = append(all, d.Create(enginetest.Job(fmt.Sprint("job ", i), enginetest.Every(time.Minute))))
				}
				bad := all[2]
				d.exec("UPDATE scheduler_job_definition SET "+column+" = ? WHERE id = ?", c.value, bad.ID)
				d.After(time.Minute)
				for _, job := range all {
					rows := d.Rows(job.ID)
					require.Len(t, rows, 1)
					if job.ID != bad.ID {
						d.AwaitStatus(t, rows[0].ID, entity.StatusSuccess)
					}
				}
				if column != "labels" { // which planning does not read
					require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(d.Rows(bad.ID)))
					require.Contains(t, d.Rows(bad.ID)[0].ErrorMessage, column)
					require.Equal(t, entity.JobPaused, d.Job(bad.ID).Status)
					require.Contains(t, d.Job(bad.ID).Pause.Reason, column)
				}
				listed, next, err := d.Jobs.List(t.Context(), repository.JobFilter{}, repository.Page{Limit: 4})
				require.NoError(t, err)
				require.Len(t, listed, 4)
				require.NotEmpty(t, next)
				require.Contains(t, listed[2].Unreadable(), column)
				require.Equal(t, bad.ID, listed[2].ID)
				rest, _, err := d.Jobs.List(t.Context(), repository.JobFilter{}, repository.Page{Limit: 4, Cursor: next})
				require.NoError(t, err)
				require.Len(t, rest, 1)
				named, _, err := d.Store.Jobs.JobsByName(t.Context(), "", repository.Page{})
				require.NoError(t, err)
				require.Len(t, named, 5)
				require.NotZero(t, d.counts["job"])
				require.Equal(t, []any{"job", bad.ID}, []any{d.Store.Unreadable()[0].Kind, d.Store.Unreadable()[0].ID})

				if column != "labels" {
					_, err = d.Jobs.Resume(t.Context(), bad.ID)
					requireCode(t, err, apperror.KindConflict, "unreadable")
					_, err = d.Jobs.Trigger(t.Context(), bad.ID, jobs.Trigger{Source: entity.TriggerManual})
					requireCode(t, err, apperror.KindConflict, "unreadable")
				}
				_, err = d.Jobs.Pause(t.Context(), bad.ID, entity.Pause{})
				require.NoError(t, err)
				require.Contains(t, d.Job(bad.ID).Unreadable(), column, "a pause leaves it as it is")
				_, err = d.Jobs.Copy(t.Context(), bad.ID, "", "")
				requireCode(t, err, apperror.KindConflict, "unreadable")
				whole := enginetest.Job(bad.Name, enginetest.Every(time.Minute))
				mended, err := d.Jobs.Replace(t.Context(), bad.ID, whole, 0, 0)
				require.NoError(t, err)
				require.Empty(t, mended.Unreadable())
				if mended.Status == entity.JobPaused {
					mended, err = d.Jobs.Resume(t.Context(), bad.ID)
					require.NoError(t, err)
				}
				d.FireAt(t, mended.DueTime)
				require.Greater(t, len(d.Rows(bad.ID)), 1)
				d.Clock.Advance(6 * time.Minute)
				require.Empty(t, d.Store.Unreadable())
				require.NoError(t, d.Jobs.Delete(t.Context(), bad.ID, 0))
			})
		})
	}
}

// Runs that wait for a job which cannot be read any more, and a run whose own row
// cannot be, end as FAILED(INVALID); they hold up no claim.
func TestRunsThatCannotBeReadHoldUpNoClaim(t *testing.T) {
	eachDamaged(t, func(d damaged, _ bool) {
		t := d.T
		job := d.Create(enginetest.Job("bad", func(j *entity.Job) { j.Retry.MaxRetries = 3 }))
		shards := d.Create(enginetest.Job("shards", func(j *entity.Job) {
			j.ShardCount, j.Overlap = 2, entity.OverlapSerial
		}))
		good := d.Create(enginetest.Job("good", nil))
		ofBad, ofShards, next, ofGood := d.Trigger(job.ID), d.Trigger(shards.ID), d.Trigger(shards.ID), d.Trigger(good.ID)
		d.exec("UPDATE scheduler_job_definition SET retry_policy = '[]', version = version + 1 WHERE id = ?", job.ID)
		d.exec("UPDATE scheduler_job_execution SET shard_id = 'first' WHERE id = ?", ofShards[0])
		d.Start(t)
		d.AwaitStatus(t, ofGood[0], entity.StatusSuccess)
		for _, id := range []string{ofBad[0], ofShards[0]} {
			row := d.AwaitStatus(t, id, entity.StatusFailed)
			require.Equal(t, entity.ReasonInvalid, row.Reason)
			require.Contains(t, row.ErrorMessage, "cannot be read")
			require.Equal(t, 1, row.Attempt)
		}
		d.AwaitStatus(t, ofShards[1], entity.StatusSuccess)
		for _, id := range next {
			d.AwaitStatus(t, id, entity.StatusSuccess) // its place was given on
		}
		rows, _, err := d.Executions.List(t.Context(), repository.ExecutionFilter{}, repository.Page{})
		require.NoError(t, err)
		require.Len(t, rows, 6)
		require.NotZero(t, d.counts["execution"])
	})
}

// The same for what waits for its moment, in the sweeps.
func TestRunsThatCannotBeReadHoldUpNoSweep(t *testing.T) {
	eachDamaged(t, func(d damaged, _ bool) {
		t := d.T
		d.Start(t)
		job := d.Create(enginetest.Job("job", nil))
		later := jobs.Trigger{Source: entity.TriggerManual, DelaySec: 60}
		var ids []string
		for range 3 {
			run, err := d.Jobs.Trigger(t.Context(), job.ID, later)
			require.NoError(t, err)
			ids = append(ids, run...)
		}
		d.exec("UPDATE scheduler_job_execution SET shard_id = '1/2/3' WHERE id = ?", ids[1])
		d.Clock.Advance(61 * time.Second) // the node's own sweep: a second one beside it may lock what a claim looks at
		for i, id := range ids {
			if i == 1 {
				d.AwaitStatus(t, id, entity.StatusFailed)
			} else {
				d.AwaitStatus(t, id, entity.StatusSuccess)
			}
		}
	})
}

// Nodes, groups and backfills that cannot be read in whole hold up neither beats
// nor sweeps nor lists.
func TestOtherRowsThatCannotBeReadHoldUpNothing(t *testing.T) {
	eachDamaged(t, func(d damaged, typed bool) {
		t := d.T
		d.exec("UPDATE scheduler_node_registry SET labels = '[1]' WHERE id = ?", d.ID())
		nodes, _, err := d.Store.View(t.Context())
		require.NoError(t, err)
		require.Len(t, nodes, 1)
		require.Contains(t, nodes[0].Unreadable, "labels")
		enginetest.Beat(t, d.Node)

		a, b := d.In("a", "one", enginetest.Every(time.Second)), d.In("b", "two", enginetest.Every(time.Second))
		if typed {
			d.exec("UPDATE scheduler_job_group SET max_concurrency = 'some' WHERE name = 'a'")
			groups, _, err := d.Groups.List(t.Context(), nil, repository.Page{})
			require.NoError(t, err)
			require.Len(t, groups, 2)
			require.Contains(t, groups[0].Unreadable, "max_concurrency")
			_, err = d.Groups.Pause(t.Context(), "b", entity.Pause{})
			require.NoError(t, err)
			require.NoError(t, d.Groups.Sweep(t.Context()))
			require.Equal(t, entity.JobPaused, d.Job(b.ID).Status)
			_, err = d.Groups.Resume(t.Context(), "b")
			require.NoError(t, err)
		}
		d.Clock.Advance(10 * time.Second)
		first, err := d.Backfills.Start(t.Context(), a.ID, execution.Backfill{
			From: noon(-5 * time.Second), To: noon(0),
			MaxParallel: 1,
		})
		require.NoError(t, err)
		second, err := d.Backfills.Start(t.Context(), b.ID, execution.Backfill{
			From: noon(-5 * time.Second), To: noon(0),
			MaxParallel: 1,
		})
		require.NoError(t, err)
		d.exec("UPDATE scheduler_backfill SET open_times = 'soon', schedule = 'daily' WHERE id = ?", first.ID)
		require.NoError(t, d.Filler.RunOnce(t.Context()))
		again, _, err := d.Backfills.List(t.Context(), a.ID, repository.Page{})
		require.NoError(t, err)
		require.Contains(t, again[0].Unreadable, "open_times")
		still, err := d.Store.Backfill(t.Context(), second.ID)
		require.NoError(t, err)
		require.Equal(t, 1, still.Started)
		require.NotZero(t, d.counts["node"]*d.counts["backfill"])
	})
}
