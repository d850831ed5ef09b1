// Package monitoringtest is the contract of time series.
package monitoringtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

func row(name string, after time.Duration, node, group string, v float64) series.Row {
	return series.Row{
		Name: name, Period: series.Minute, Time: storetest.Noon.Add(after), NodeID: node, Group: group, Samples: 2,
		Sum: 2 * v, Min: v - 1, Max: v + 1,
	}
}

// Metrics tests repository.MetricRows and the deletion of its rows.
func Metrics(t *testing.T, open storetest.Opener) {
	const cpu, ended = "node.cpu", "executions.ended"
	t.Run("a repeated write is the same row", func(t *testing.T) {
		s := open(t, nil)
		for _, v := range []float64{1, 1, 3} {
			require.NoError(t, s.PutMetrics(t.Context(), []series.Row{row(cpu, 0, "n1", "", v), row(cpu, 0, "n2", "", 5)}))
		}
		got, err := s.ReadMetrics(t.Context(), query(cpu, true))
		require.NoError(t, err)
		require.Equal(t, []series.Row{row(cpu, 0, "n1", "", 3), row(cpu, 0, "n2", "", 5)}, got)
	})
	t.Run("many rows are written in parts", func(t *testing.T) {
		s := open(t, nil)
		var rows []series.Row
		for i := range 450 {
			rows = append(rows, row(cpu, time.Duration(i)*time.Second, "n1", "", 0.125))
		}
		require.NoError(t, s.PutMetrics(t.Context(), rows))
		got, err := s.ReadMetrics(t.Context(), query(cpu, true))
		require.NoError(t, err)
		require.Equal(t, rows, got)
		q := query(cpu, true)
		q.Limit = 7
		got, err = s.ReadMetrics(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, rows[:7], got)
		require.NoError(t, s.PutMetrics(t.Context(), nil))
	})
	t.Run("rows are found by time, node and group", func(t *testing.T) { found(t, open) })
	t.Run("a period is merged from the one before", func(t *testing.T) {
		s := open(t, nil)
		oldest, newest, err := s.MetricsSpan(t.Context(), series.Minute)
		require.NoError(t, err)
		require.True(t, oldest.IsZero() && newest.IsZero())
		require.NoError(t, s.PutMetrics(t.Context(), []series.Row{
			row(ended, 0, "n1", "a", 3), row(ended, time.Minute, "n1", "a", 9), row(ended, 0, "n1", "b", 1),
			row(ended, 0, "n2", "a", 1), row(ended, time.Hour, "n1", "a", 100), row(cpu, 0, "n1", "", 50),
		}))
		got, err := s.MergedMetrics(t.Context(), ended, series.Minute, storetest.Noon, storetest.Noon.Add(time.Hour))
		require.NoError(t, err)
		slices.SortFunc(got, func(a, b series.Row) int { return int(b.Sum - a.Sum) })
		require.Len(t, got, 3)
		require.Equal(t, series.Row{Name: ended, NodeID: "n1", Group: "a", Samples: 4, Sum: 24, Min: 2, Max: 10}, got[0])
		oldest, newest, err = s.MetricsSpan(t.Context(), series.Minute)
		require.NoError(t, err)
		require.Equal(t, []time.Time{storetest.Noon, storetest.Noon.Add(time.Hour)}, []time.Time{oldest, newest})
	})
	t.Run("each period grows old by itself", func(t *testing.T) {
		s := open(t, nil)
		var rows []series.Row
		for i := range 5 {
			rows = append(rows, row(cpu, time.Duration(i)*time.Hour, fmt.Sprint("n", i), "", 1))
		}
		old := row(cpu, 0, "n1", "", 1)
		old.Period = series.Day
		require.NoError(t, s.PutMetrics(t.Context(), append(rows, old)))
		for _, want := range []int{3, 1, 0} {
			p, err := s.PurgeMetrics(t.Context(), series.Minute, storetest.Noon.Add(4*time.Hour), 3)
			require.NoError(t, err)
			require.Equal(t, []any{want, want == 3}, []any{p.Deleted, p.More})
		}
		got, err := s.ReadMetrics(t.Context(), query(cpu, true))
		require.NoError(t, err)
		require.Equal(t, rows[4:], got)
		q := query(cpu, true)
		q.Period = series.Day
		got, err = s.ReadMetrics(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, []series.Row{old}, got)
	})
}

func query(name string, byNode bool) repository.MetricQuery {
	return repository.MetricQuery{
		Name: name, Period: series.Minute, From: storetest.Noon, To: storetest.Noon.Add(24 * time.Hour), ByNode: byNode,
		Limit: 1000,
	}
}

func found(t *testing.T, open storetest.Opener) {
	const ended = "executions.ended"
	s := open(t, nil)
	require.NoError(t, s.PutMetrics(t.Context(), []series.Row{
		row(ended, 0, "n1", "a", 3), row(ended, 0, "n1", "b", 4), row(ended, 0, "n2", "a", 5),
		row(ended, time.Minute, "n1", "a", 6), row("node.cpu", 0, "n1", "", 50),
	}))
	for _, c := range []struct {
		name   string
		change func(q *repository.MetricQuery)
		want   []float64
	}{
		{"all", func(*repository.MetricQuery) {}, []float64{24, 12}},
		{"by node", func(q *repository.MetricQuery) { q.ByNode = true }, []float64{14, 10, 12}},
		{"one node", func(q *repository.MetricQuery) { q.NodeID = "n2" }, []float64{10}},
		{"one group", func(q *repository.MetricQuery) { q.Group = "a" }, []float64{16, 12}},
		{"seen groups", func(q *repository.MetricQuery) { q.Groups = []string{"b", "c"} }, []float64{8}},
		{"a group that is not seen", func(q *repository.MetricQuery) { q.Groups, q.Group = []string{"b"}, "a" }, nil},
		{"no groups", func(q *repository.MetricQuery) { q.Groups = []string{} }, nil},
		{"until", func(q *repository.MetricQuery) { q.To = storetest.Noon.Add(time.Minute) }, []float64{24}},
		{"from", func(q *repository.MetricQuery) { q.From = storetest.Noon.Add(time.Minute) }, []float64{12}},
	} {
		q := query(ended, false)
		c.change(&q)
		got, err := s.ReadMetrics(t.Context(), q)
		require.NoError(t, err)
		var sums []float64
		for _, r := range got {
			sums = append(sums, r.Sum)
		}
		require.Equal(t, c.want, sums, c.name)
	}
}
