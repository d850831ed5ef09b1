package persistence_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	statistician "github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

const (
	statJobs, statGroups, statNodes = 1000, 20, 10
	// statHours are the rows of hours of each job, of 10 runs each, and statDays those of days, of 10 runs.
	statHours, statDays = 72, 30
)

// BenchmarkStatistics answers questions about a million executions of 1,000 jobs in 20 groups on 10 nodes: three days
// of hours and 30 days before.
func BenchmarkStatistics(b *testing.B) {
	for name, config := range map[string]func(testing.TB) persistence.Config{
		"sqlite": dbtest.SQLite, "mysql": dbtest.MySQL,
	} {
		b.Run(name, func(b *testing.B) {
			if name == "mysql" {
				dbtest.NeedMySQL(b)
			}
			s := dbtest.Open(b, config(b))
			job := fillSums(b, s)
			service := &statistician.StatisticsService{
				Sums: s.Statistics, Baselines: s.Statistics, Jobs: s.Jobs,
				Clock: clocktest.NewManual(enginetest.Noon), Zone: time.UTC,
			}
			month := enginetest.Noon.AddDate(0, 0, -33)
			for _, c := range []struct {
				name string
				q    statistician.Query
			}{
				{"job, day", statistician.Query{Job: job, By: statistics.Hour}},
				{"job, month", statistician.Query{Job: job, From: month, By: statistics.Day}},
				{"group, day", statistician.Query{Group: "g-1", By: statistics.Hour}},
				{"group, month", statistician.Query{Group: "g-1", From: month, By: statistics.Day}},
				{"node, month", statistician.Query{Node: "n-1", From: month, By: statistics.Day}},
				{"cluster, month", statistician.Query{From: month, By: statistics.Day}},
				{"19 groups, month", statistician.Query{From: month, By: statistics.Day, Groups: groupNames()[1:]}},
				{"top of a day", statistician.Query{Top: 10}},
				{"top of a month", statistician.Query{Top: 10, From: month}},
				{"top of a group, month", statistician.Query{Top: 10, From: month, Group: "g-1"}},
			} {
				b.Run(c.name, func(b *testing.B) {
					c.q.TopBy = repository.TopRuns
					slowest := time.Duration(0)
					for b.Loop() {
						began := time.Now()
						found, err := service.Statistics(b.Context(), c.q)
						require.NoError(b, err)
						require.Positive(b, found.Total.Runs)
						slowest = max(slowest, time.Since(began))
					}
					b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
				})
			}
		})
	}
}

func groupNames() (names []string) {
	for g := range statGroups {
		names = append(names, fmt.Sprint("g-", g))
	}
	return names
}

// fillSums stores the rows, and returns one of the jobs.
func fillSums(b *testing.B, s *persistence.Store) string {
	rows := map[repository.SumKey]*statistics.StoredRow{}
	var keys []repository.SumKey
	add := func(key repository.SumKey, runs int) {
		row := &statistics.StoredRow{FoldSeq: 1}
		for i := range runs {
			row.Runs++
			row.Duration.Add(time.Duration(i*i) * time.Millisecond)
			row.Lateness.Add(time.Duration(i) * time.Millisecond)
		}
		keys, rows[key] = append(keys, key), row
	}
	var jobs []*entity.Job
	var ids []repository.BinaryID
	for j := range statJobs {
		job := enginetest.Job(fmt.Sprint("job-", j), func(x *entity.Job) { x.Group = fmt.Sprint("g-", j%statGroups) })
		job.ID, job.Version, job.Status = identity.RandomID(enginetest.Noon), 1, entity.JobEnabled
		job.CreateTime, job.UpdateTime = enginetest.Noon, enginetest.Noon
		id, _ := identity.Bytes(job.ID)
		jobs, ids = append(jobs, job), append(ids, id)
	}
	period := func(p statistics.Period, start time.Time, runs int) {
		key := repository.SumKey{Period: p, Start: start.UnixMilli()}
		scope := func(kind statistics.Kind, name string, runs int) {
			key := key
			key.Kind, key.Name = kind, name
			add(key, runs)
		}
		scope(statistics.KindCluster, "", runs*statJobs)
		for _, name := range groupNames() {
			scope(statistics.KindGroup, name, runs*statJobs/statGroups)
		}
		for n := range statNodes {
			scope(statistics.KindNode, fmt.Sprint("n-", n), runs*statJobs/statNodes)
		}
		for _, id := range ids {
			key.Job = id
			add(key, runs)
		}
	}
	for h := range statHours {
		period(statistics.Hour, enginetest.Noon.Add(-time.Duration(h)*time.Hour), 10)
	}
	for d := range statDays {
		period(statistics.Day, enginetest.Noon.AddDate(0, 0, -d-4).Truncate(24*time.Hour), 10)
	}
	write := func(fn func(ctx context.Context, tx repository.Tx) error) {
		require.NoError(b, s.Write(b.Context(), repository.LaneAPI, "fill", fn))
	}
	write(func(ctx context.Context, tx repository.Tx) error {
		for _, job := range jobs {
			if err := tx.Jobs.Insert(ctx, job); err != nil {
				return err
			}
		}
		return nil
	})
	for part := range slices.Chunk(keys, 2000) {
		write(func(ctx context.Context, tx repository.Tx) error { return tx.Statistics.PutSums(ctx, part, rows) })
	}
	return jobs[1].ID
}
