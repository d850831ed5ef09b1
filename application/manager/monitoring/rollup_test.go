package monitoring_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// minutes adds rows of two series and two nodes for each minute from a time on.
func (s *table) minutes(t *testing.T, from time.Time, n int) {
	var rows []series.Row
	for i := range n {
		for _, node := range []string{"n1", "n2"} {
			at, v := from.Add(time.Duration(i)*time.Minute), float64(i+1)
			rows = append(rows,
				series.Row{Name: "node.fires", Period: series.Minute, Time: at, NodeID: node, Samples: 1, Sum: v, Min: v, Max: v},
				series.Row{
					Name: "node.running", Period: series.Minute, Time: at, NodeID: node, Samples: 4, Sum: 4 * v, Min: v,
					Max: v,
				})
		}
	}
	require.NoError(t, s.PutMetrics(t.Context(), rows))
}

// untilIdle rolls up until nothing is due.
func untilIdle(t *testing.T, r *monitoring.RollUp) {
	t.Helper()
	for range 10 {
		if err := r.RunOnce(t.Context()); err != nil {
			require.ErrorIs(t, err, periodic.ErrIdle)
			return
		}
	}
	t.Error("the roll-up never ends")
}

func TestMinutesBecomeHoursAndHoursDays(t *testing.T) {
	store, clock := newTable(), clocktest.NewManual(noon)
	roll := monitoring.NewRollUp(store, clock)
	require.ErrorIs(t, roll.RunOnce(t.Context()), periodic.ErrIdle, "there are no rows")
	store.minutes(t, noon, 90)
	clock.Advance(time.Hour + 4*time.Minute)
	require.ErrorIs(t, roll.RunOnce(t.Context()), periodic.ErrIdle, "the nodes may not have written all")
	clock.Advance(time.Minute)
	require.NoError(t, roll.RunOnce(t.Context()))
	require.ErrorIs(t, roll.RunOnce(t.Context()), periodic.ErrIdle)
	hours := store.of("node.fires", series.Hour)
	require.Len(t, hours, 2)
	require.Equal(t, noon, hours[0].Time)
	require.Equal(t, []any{int64(60), 1830.0, 1.0, 60.0}, []any{
		hours[0].Samples, hours[0].Sum, hours[0].Min,
		hours[0].Max,
	})
	running := store.of("node.running", series.Hour)[0]
	require.InDelta(t, 30.5, running.Value(series.Gauge), 1e-9)

	late := series.Row{
		Name: "node.fires", Period: series.Minute, Time: noon, NodeID: "late", Samples: 1, Sum: 7, Min: 7, Max: 7,
	}
	require.NoError(t, store.PutMetrics(t.Context(), []series.Row{late}))
	clock.Advance(time.Hour)
	require.NoError(t, roll.RunOnce(t.Context()))
	require.Len(t, store.of("node.fires", series.Hour), 5, "the late row counts, and so does the next hour")

	clock.Advance(12 * time.Hour)
	untilIdle(t, roll)
	days := store.of("node.fires", series.Day)
	require.Len(t, days, 3)
	require.Equal(t, noon.Truncate(series.Day), days[0].Time)
	require.InDelta(t, 2.0*90*91/2+7, days[0].Sum+days[1].Sum+days[2].Sum, 0)
}

// The next leader, also beside the former one, writes the same rows.
func TestANewLeaderWritesTheSameRows(t *testing.T) {
	store, clock := newTable(), clocktest.NewManual(noon)
	store.minutes(t, noon, 300)
	clock.Advance(6 * time.Hour)
	require.NoError(t, monitoring.NewRollUp(store, clock).RunOnce(t.Context()))
	before := maps.Clone(store.rows)
	next := monitoring.NewRollUp(store, clock)
	untilIdle(t, next)
	require.Equal(t, before, store.rows)
}

// An hour whose minutes are partly deleted stays as it is.
func TestAnHourThatRetentionHasCutIsNotMadeAgain(t *testing.T) {
	store, clock := newTable(), clocktest.NewManual(noon)
	store.minutes(t, noon, 60)
	clock.Advance(65 * time.Minute)
	require.NoError(t, monitoring.NewRollUp(store, clock).RunOnce(t.Context()))
	hours := store.of("node.fires", series.Hour)
	for id, r := range store.rows {
		if r.Period == series.Minute && r.Time.Before(noon.Add(30*time.Minute)) {
			delete(store.rows, id)
		}
	}
	clock.Advance(47 * time.Hour)
	next := monitoring.NewRollUp(store, clock)
	untilIdle(t, next)
	require.Equal(t, hours, store.of("node.fires", series.Hour))
}

func TestARollUpGoesOnWhereItFailed(t *testing.T) {
	store, clock := newTable(), clocktest.NewManual(noon)
	store.minutes(t, noon, 120)
	clock.Advance(3 * time.Hour)
	roll := monitoring.NewRollUp(store, clock)
	store.fail = errors.New("away")
	require.ErrorContains(t, roll.RunOnce(t.Context()), "away")
	store.fail = nil
	require.NoError(t, roll.RunOnce(t.Context()))
	require.Len(t, store.of("node.fires", series.Hour), 4)
}
