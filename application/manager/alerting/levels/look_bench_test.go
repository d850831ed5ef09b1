package levels_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// How long NOT_FIRED takes where there are a million jobs: all of them well, one overdue,
// and all of them overdue.
func BenchmarkNotFiredOfAMillionJobs(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		benchNotFired(b, dbtest.SQLite(b), "SELECT GROUP_CONCAT(name) FROM pragma_table_info('scheduler_job_definition')")
	})
	b.Run("mysql", func(b *testing.B) {
		dbtest.NeedMySQL(b)
		benchNotFired(b, dbtest.MySQL(b), "SELECT GROUP_CONCAT(column_name) FROM information_schema.columns "+
			"WHERE table_schema = DATABASE() AND table_name = 'scheduler_job_definition'")
	})
}

const (
	// originals are the jobs that are copied, and copies how often each is there.
	originals = 1000
	copies    = 1000
)

func benchNotFired(b *testing.B, cfg persistence.Config, columns string) {
	at := clocktest.NewManual(enginetest.Noon)
	cfg.Clock = at
	store := dbtest.Open(b, cfg)
	copyJobs(b, store, columns)
	looker := levels.NewStoreLooker(levels.StoreLookerDeps{
		Plans: store, Claims: store, Nodes: store, Troubles: store, Groups: store, Alerts: store, Ends: store.Statistics,
		Clock: at, Grace: 30 * time.Second,
	})
	ask := levels.Ask{Types: map[alert.RuleType]bool{alert.NotFired: true}}
	for _, c := range []struct {
		name  string
		where string
		want  int
	}{
		{"well", "", 0}, {"one overdue", " AND name = 'job-7'", 1}, {"all overdue", "", alerting.MaxOverdue},
	} {
		if c.want > 0 {
			setDue(b, store, enginetest.Noon.Add(-time.Hour), c.where)
		}
		if strings.Contains(columns, "information_schema") {
			explain(b, store, c.name)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				st, err := looker.Look(b.Context(), ask)
				require.NoError(b, err)
				require.Len(b, st.Overdue, c.want)
			}
		})
	}
}

// explain logs how many rows the server examines.
func explain(b *testing.B, store *persistence.Store, name string) {
	b.Helper()
	for query, from := range map[string]string{
		"SELECT id, due_time FROM scheduler_job_definition FORCE INDEX (idx_due) WHERE due_time <= ? " +
			"ORDER BY due_time, id LIMIT 1000": "2026-11-20 11:59:30.000",
		"SELECT id, status, deleted, next_fire_time, schedule_kind FROM scheduler_job_definition WHERE id > ? " +
			"ORDER BY id LIMIT 2000": "",
	} {
		require.NoError(b, dbtest.Write(b.Context(), store, repository.LaneAPI, "bench",
			func(ctx context.Context, tx dbtest.Tx) error {
				text, err := tx.QueryText(ctx, "ANALYZE FORMAT=JSON "+query, from)
				b.Log(name, query, text)
				return err
			}))
	}
}

func prefix(k int) string { return fmt.Sprintf("%08x", k) }

func setDue(b *testing.B, store *persistence.Store, due time.Time, where string) {
	b.Helper()
	for k := range copies {
		write(b, store, "UPDATE scheduler_job_definition SET due_time = ?, next_fire_time = ? WHERE id BETWEEN ? AND ?"+where,
			due.Format("2006-01-02 15:04:05.000"), due.Format("2006-01-02 15:04:05.000"), prefix(k), prefix(k)+"~")
	}
	write(b, store, "UPDATE scheduler_job_definition SET due_time = ?, next_fire_time = ? WHERE id > '01'"+where,
		due.Format("2006-01-02 15:04:05.000"), due.Format("2006-01-02 15:04:05.000"))
}

func write(b *testing.B, store *persistence.Store, query string, args ...any) {
	b.Helper()
	require.NoError(b, dbtest.Write(b.Context(), store, repository.LaneAPI, "bench",
		func(ctx context.Context, tx dbtest.Tx) error {
			_, err := tx.Exec(ctx, query, args...)
			return err
		}))
}

// copyJobs stores jobs that fire each hour. The ids of the copies begin with their number.
func copyJobs(b *testing.B, store *persistence.Store, columns string) {
	b.Helper()
	var names []string
	require.NoError(b, dbtest.Write(b.Context(), store, repository.LaneAPI, "bench",
		func(ctx context.Context, tx dbtest.Tx) error {
			for i := range originals {
				job := enginetest.Job(fmt.Sprint("job-", i), enginetest.Every(time.Hour))
				job.ID, job.Version, job.Status = identity.RandomID(enginetest.Noon), 1, entity.JobEnabled
				job.Partition, job.CreateTime, job.UpdateTime = entity.PartitionOf(job.ID), enginetest.Noon, enginetest.Noon
				job.NextFireTime, job.DueTime = enginetest.Noon.Add(time.Hour), enginetest.Noon.Add(time.Hour)
				if err := tx.Jobs.Insert(ctx, job); err != nil {
					return err
				}
			}
			text, err := tx.QueryText(ctx, columns)
			names = strings.Split(text, ",")
			return err
		}))
	values := make([]string, len(names))
	for k := range copies - 1 {
		for i, name := range names {
			switch name {
			case "id":
				values[i] = "CONCAT('" + prefix(k) + "', SUBSTR(id, 9))"
			case "name", "name_key", "name_search":
				values[i] = "CONCAT(" + name + ", '-" + prefix(k) + "')"
			default:
				values[i] = name
			}
		}
		write(b, store, "INSERT INTO scheduler_job_definition ("+strings.Join(names, ", ")+") SELECT "+
			strings.Join(values, ", ")+" FROM scheduler_job_definition WHERE id > '01'")
	}
}
