package metric_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

var now = time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)

// rows answers with one row for each period that was asked for, and keeps the questions.
type rows struct {
	repository.MetricRows
	asked []repository.MetricQuery
}

func (r *rows) ReadMetrics(_ context.Context, q repository.MetricQuery) ([]series.Row, error) {
	r.asked = append(r.asked, q)
	var out []series.Row
	for at := q.From; at.Before(q.To) && len(out) < q.Limit; at = at.Add(q.Period) {
		out = append(out, series.Row{Name: q.Name, Time: at, Samples: 1, Sum: 2, Min: 1, Max: 3})
	}
	return out, nil
}

func TestThePresentIsReadFromMinutes(t *testing.T) {
	r := &rows{}
	s := metric.NewMetricService(r, clocktest.NewManual(now))
	a, err := s.Metrics(t.Context(), metric.Query{
		Name: "executions.ended", From: now.Add(-72 * time.Hour), Step: 24 * time.Hour,
	})
	require.NoError(t, err)
	midnight := now.Truncate(24 * time.Hour)
	require.Len(t, r.asked, 3)
	require.Equal(t, []any{series.Day, midnight.AddDate(0, 0, -3), midnight},
		[]any{r.asked[0].Period, r.asked[0].From, r.asked[0].To})
	require.Equal(t, []any{series.Hour, midnight, now.Add(-90 * time.Minute)},
		[]any{r.asked[1].Period, r.asked[1].From, r.asked[1].To})
	require.Equal(t, []any{series.Minute, now}, []any{r.asked[2].Period, r.asked[2].To})
	require.Len(t, a.Series, 1)
	require.Len(t, a.Series[0].Points, 4)
	last := a.Series[0].Points[3]
	require.Equal(t, metric.Point{Time: midnight, Value: 2 * (11 + 90), Min: 1, Max: 3}, last)
	require.True(t, a.Complete)
}

func TestWhatIsLeftOutIsChosen(t *testing.T) {
	r := &rows{}
	s := metric.NewMetricService(r, clocktest.NewManual(now))
	a, err := s.Metrics(t.Context(), metric.Query{Name: "node.cpu"})
	require.NoError(t, err)
	require.Equal(t, []any{now.Add(-time.Hour), now, time.Minute}, []any{a.From, a.To, a.Step})
	require.InDelta(t, 2.0, a.Series[0].Points[0].Value, 0, "the mean of a level")
	require.True(t, r.asked[0].ByNode)
	for back, want := range map[time.Duration]time.Duration{
		10 * time.Hour: 2 * time.Minute, 47 * time.Hour: 10 * time.Minute, 49 * time.Hour: time.Hour,
		30 * 24 * time.Hour: 2 * time.Hour, 365 * 24 * time.Hour: 24 * time.Hour, 3000 * 24 * time.Hour: 7 * 24 * time.Hour,
	} {
		a, err = s.Metrics(t.Context(), metric.Query{Name: "node.cpu", From: now.Add(-back)})
		require.NoError(t, err, back)
		require.Equal(t, want, a.Step, back)
	}
}

func TestBadQuestionsAreRefused(t *testing.T) {
	s := metric.NewMetricService(&rows{}, clocktest.NewManual(now))
	for _, c := range []struct {
		q           metric.Query
		field, text string
	}{
		{metric.Query{}, "name", "name the series"},
		{metric.Query{Name: "executions.endet"}, "name", "did you mean executions.ended?"},
		{metric.Query{Name: "quite another thing"}, "name", "docs/metrics.md"},
		{metric.Query{Name: "node.cpu", Group: "g"}, "group", "not kept by group"},
		{metric.Query{Name: "cluster.ready", NodeID: "n"}, "nodeId", "whole cluster"},
		{metric.Query{Name: "node.cpu", From: now}, "from", "before to"},
		{metric.Query{Name: "node.cpu", From: now.AddDate(-11, 0, 0)}, "from", "ten years"},
		{metric.Query{Name: "node.cpu", Step: 90 * time.Second}, "step", "multiple of 60"},
		{metric.Query{Name: "node.cpu", From: now.Add(-40 * time.Hour), Step: time.Minute}, "step", "2400 points"},
		{metric.Query{Name: "node.cpu", From: now.Add(-50 * time.Hour), Step: 5 * time.Minute}, "step", "two days"},
	} {
		_, err := s.Metrics(t.Context(), c.q)
		var problem *apperror.Error
		require.ErrorAs(t, err, &problem, c.text)
		require.Equal(t, c.field, problem.Fields[0].Field)
		require.Contains(t, problem.Fields[0].Message, c.text)
	}
}

// A caller bound to groups learns nothing of nodes.
func TestGroupsBoundTheAnswer(t *testing.T) {
	r := &rows{}
	s := metric.NewMetricService(r, clocktest.NewManual(now))
	_, err := s.Metrics(t.Context(), metric.Query{
		Name: "executions.failed", Groups: []string{"a"}, Group: "b", NodeID: "n",
	})
	require.NoError(t, err)
	require.Equal(t, []any{[]string{"a"}, "b", "n", true},
		[]any{r.asked[0].Groups, r.asked[0].Group, r.asked[0].NodeID, r.asked[0].ByNode})
	for _, name := range []string{"node.cpu", "cluster.ready"} {
		_, err = s.Metrics(t.Context(), metric.Query{Name: name, Groups: []string{}})
		require.True(t, apperror.Is(err, apperror.KindForbidden), name)
	}
}
