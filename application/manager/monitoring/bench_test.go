package monitoring_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// foldJobs is how many jobs have rows before the fold begins; PS_BENCH_JOBS changes it.
const foldJobs = 1_000_000

// BenchmarkFold adds up batches of 20,000 ends, each of another job of a million. The
// worst case: each end changes a row of sums and a baseline of its own.
func BenchmarkFold(b *testing.B) {
	for name, config := range map[string]func(testing.TB) persistence.Config{
		"sqlite": dbtest.SQLite, "mysql": dbtest.MySQL,
	} {
		b.Run(name, func(b *testing.B) {
			if name == "mysql" {
				dbtest.NeedMySQL(b)
			}
			s := dbtest.Open(b, config(b))
			ids := fillFold(b, s)
			at := clocktest.NewManual(enginetest.Noon.Add(30 * time.Minute))
			fold := monitoring.NewFold(monitoring.FoldDeps{
				Store: s, Digests: groups{DigestReader: s.Statistics}, Clock: at, StoreClock: at, Zone: time.UTC,
				Logger: slog.New(slog.DiscardHandler),
			})
			const ends = 20_000
			r := rand.New(rand.NewPCG(1, 1))
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				at.Advance(11 * time.Second)
				addEnds(b, s, at, ids, r, ends)
				b.StartTimer()
				n, err := fold.RunOnce(b.Context())
				require.NoError(b, err)
				require.Equal(b, ends, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*ends), "µs/end")
		})
	}
}

// groups says that each job exists: their definitions are not what is measured.
type groups struct{ repository.DigestReader }

// GroupsOf implements repository.DigestReader.
func (groups) GroupsOf(_ context.Context, jobs []repository.BinaryID) (map[repository.BinaryID]string, error) {
	out := make(map[repository.BinaryID]string, len(jobs))
	for _, job := range jobs {
		out[job] = fmt.Sprint("g-", job[15]%20)
	}
	return out, nil
}

// fillFold gives each job a row of sums of the present hour, and a baseline of many runs. It returns the jobs.
func fillFold(b *testing.B, s *persistence.Store) (ids []repository.BinaryID) {
	jobs, size, most := foldJobs, 0, 0
	if text := os.Getenv("PS_BENCH_JOBS"); text != "" {
		var err error
		jobs, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	r, learned := rand.New(rand.NewPCG(1, 1)), make([][]byte, 50)
	for i := range learned {
		learned[i] = learn(r)
	}
	row := &statistics.StoredRow{FoldSeq: 1}
	for i := range 10 {
		row.Runs++
		row.Duration.Add(time.Duration(i*i) * time.Millisecond)
		row.Lateness.Add(time.Duration(i) * time.Millisecond)
	}
	for range jobs {
		id, _ := identity.Bytes(identity.RandomID(enginetest.Noon))
		ids = append(ids, id)
	}
	for part := range slices.Chunk(ids, 2000) {
		keys, rows := make([]repository.SumKey, 0, len(part)), map[repository.SumKey]*statistics.StoredRow{}
		baselines := make([]repository.StoredBaseline, 0, len(part))
		for i, id := range part {
			key := repository.SumKey{Period: statistics.Hour, Start: enginetest.Noon.UnixMilli(), Job: id}
			keys, rows[key] = append(keys, key), row
			data := learned[i%len(learned)]
			baselines = append(baselines, repository.StoredBaseline{Job: id, Data: data})
			size, most = size+len(data), max(most, len(data))
		}
		require.NoError(b, s.Write(b.Context(), repository.LaneAPI, "fill",
			func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Statistics.PutSums(ctx, keys, rows); err != nil {
					return err
				}
				return tx.Statistics.PutBaselines(ctx, baselines)
			}))
	}
	b.Logf("%d jobs; a baseline has %d bytes on average, %d at most", jobs, size/jobs, most)
	return ids
}

// learn is the baseline of a job with hours that matter, outliers and failures.
func learn(r *rand.Rand) []byte {
	state := &baseline.State{}
	for i := range 1500 {
		at := enginetest.Noon.Add(time.Duration(i) * 37 * time.Minute)
		run := baseline.Run{Start: at, Duration: time.Minute, Status: entity.StatusSuccess, Version: 1}
		run.Duration += time.Duration(at.Hour()) * 20 * time.Second
		run.Duration += time.Duration(r.Int64N(int64(run.Duration / 8)))
		switch r.IntN(100) {
		case 0:
			run.Duration *= time.Duration(2 + r.IntN(20))
		case 1:
			run.Status = entity.StatusFailed
		}
		state.Learn(run)
	}
	return state.Append(nil)
}

// addEnds stores digests of so many ends, each of another job.
func addEnds(b *testing.B, s *persistence.Store, at *clocktest.Manual, ids []repository.BinaryID, r *rand.Rand, n int) {
	now, execs := at.Now(), make([]*entity.Execution, 0, n)
	first := r.IntN(len(ids))
	for i := range n {
		id := ids[(first+i*len(ids)/n)%len(ids)]
		execs = append(execs, &entity.Execution{
			ID: "x", JobID: identity.Text(id), Status: entity.StatusSuccess, Trigger: entity.TriggerSchedule, ShardTotal: 1,
			JobVersion: 1, Attempt: 1, NodeID: fmt.Sprint("n-", i%3), DueTime: now.Add(-3 * time.Second),
			StartTime: now.Add(-2 * time.Second), EndTime: now, Duration: 2 * time.Second,
		})
	}
	for part := range slices.Chunk(execs, 200) {
		digests, leftOut := statistics.Encode(part, now)
		require.Zero(b, leftOut)
		require.NoError(b, s.Write(b.Context(), repository.LaneAPI, "ends",
			func(ctx context.Context, tx repository.Tx) error {
				return tx.Statistics.AddDigests(ctx, now, digests)
			}))
	}
}
