package monitoring_test

import (
	"context"
	"log/slog"
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
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// reads counts what is asked for.
type reads struct {
	repository.BaselineReader
	jobs []int
}

func (r *reads) BaselinesOf(ctx context.Context, jobs []repository.BinaryID) (
	map[repository.BinaryID]repository.StoredBaseline, error,
) {
	r.jobs = append(r.jobs, len(jobs))
	return r.BaselineReader.BaselinesOf(ctx, jobs)
}

func (d *desk) usual(from repository.BaselineReader) *monitoring.Usual {
	return monitoring.NewUsual(monitoring.UsualDeps{
		Baselines: from, Clock: d.clock, Zone: d.zone, Logger: slog.New(slog.NewTextHandler(&d.log, nil)),
	})
}

// A node compares a run with what the fold has learned, in the zone of the fold, and
// reads a job once a minute.
func TestANodeKnowsWhatIsUsual(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := newDesk(t, cfg)
		d.zone = time.FixedZone("here", 8*3600)
		leader := d.fold(d.store)
		for range 30 {
			d.clock.Advance(time.Minute)
			d.add(d.end(0, entity.StatusSuccess, nil), d.end(1, entity.StatusFailed, nil))
		}
		d.drain(leader)
		broken, _ := identity.Bytes(d.jobs[2].ID)
		d.write(func(ctx context.Context, tx repository.Tx) error {
			return tx.Statistics.PutBaselines(ctx, []repository.StoredBaseline{{Job: broken, Data: []byte("broken")}})
		})
		from := &reads{BaselineReader: d.store.Statistics}
		u := d.usual(from)
		now := d.clock.Now()
		f, found, err := u.Running(t.Context(), d.jobs[0].ID, now.Add(-time.Minute), time.Minute)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, baseline.SlowRun, f.Code)
		require.True(t, f.Params.Running)
		require.EqualValues(t, 30, f.Params.Runs)
		_, found, err = u.Running(t.Context(), d.jobs[0].ID, now, time.Second)
		require.NoError(t, err)
		require.False(t, found)
		f, found, err = u.AtRisk(t.Context(), d.jobs[0].ID, now, now, now.Add(100*time.Millisecond))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, baseline.DeadlineAtRisk, f.Code)
		require.Equal(t, []int{1}, from.jobs, "it is remembered")

		all := []string{"no id"}
		for _, j := range d.jobs {
			all = append(all, j.ID)
		}
		require.NoError(t, u.Load(t.Context(), all))
		require.Equal(t, []int{1, 4}, from.jobs)
		for _, job := range all[2:] {
			_, found, err = u.Running(t.Context(), job, now, time.Hour)
			require.NoError(t, err)
			require.False(t, found)
		}
		require.Equal(t, []int{1, 4}, from.jobs, "that there is none is remembered as well")
		require.Contains(t, d.log.String(), "what is usual for a job cannot be read")
		d.clock.Advance(time.Minute)
		require.NoError(t, u.Load(t.Context(), all))
		require.Equal(t, []int{1, 4, 5}, from.jobs)
	})
}

// none is a store without baselines.
type none struct{ asked int }

func (n *none) BaselinesOf(_ context.Context, jobs []repository.BinaryID) (
	map[repository.BinaryID]repository.StoredBaseline, error,
) {
	n.asked += len(jobs)
	return nil, nil
}

// It remembers 10,000 jobs: those that were used last.
func TestWhatIsUsualIsBounded(t *testing.T) {
	from, at := &none{}, clocktest.NewManual(enginetest.Noon)
	u := monitoring.NewUsual(monitoring.UsualDeps{Baselines: from, Clock: at, Zone: time.UTC, Logger: slog.Default()})
	ids := make([]string, 10_001)
	for i := range ids {
		ids[i] = identity.RandomID(enginetest.Noon)
	}
	require.NoError(t, u.Load(t.Context(), ids[:10_000]))
	require.NoError(t, u.Load(t.Context(), ids[:1]), "it is used again")
	require.Equal(t, 10_000, from.asked)
	require.NoError(t, u.Load(t.Context(), ids[10_000:]))
	require.NoError(t, u.Load(t.Context(), ids[:1]))
	require.Equal(t, 10_001, from.asked)
	require.NoError(t, u.Load(t.Context(), ids[1:2]))
	require.Equal(t, 10_002, from.asked, "the one that was not used for longest has gone")
}
