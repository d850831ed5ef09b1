package monitoring_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// table is a store of rows in memory, by their ids.
type table struct {
	rows map[string]series.Row
	fail error
	puts int
}

func newTable() *table { return &table{rows: map[string]series.Row{}} }

func (s *table) PutMetrics(_ context.Context, rows []series.Row) error {
	if s.fail != nil {
		return s.fail
	}
	s.puts += len(rows)
	for _, r := range rows {
		s.rows[r.ID()] = r
	}
	return nil
}

func (s *table) ReadMetrics(context.Context, repository.MetricQuery) ([]series.Row, error) {
	return nil, errors.New("not asked")
}

func (s *table) MergedMetrics(_ context.Context, name string, period time.Duration,
	from, to time.Time,
) ([]series.Row, error) {
	merged := map[string]*series.Row{}
	for _, r := range s.rows {
		if r.Name == name && r.Period == period && !r.Time.Before(from) && r.Time.Before(to) {
			m := merged[r.DimHash()]
			if m == nil {
				m = &series.Row{Name: name, NodeID: r.NodeID, Group: r.Group}
				merged[r.DimHash()] = m
			}
			m.Merge(r)
		}
	}
	var out []series.Row
	for _, m := range merged {
		out = append(out, *m)
	}
	return out, s.fail
}

func (s *table) MetricsSpan(_ context.Context, period time.Duration) (oldest, newest time.Time, err error) {
	for _, r := range s.of("", period) {
		if oldest.IsZero() {
			oldest = r.Time
		}
		newest = r.Time
	}
	return oldest, newest, s.fail
}

// of returns the rows of a series, "" for all, by time.
func (s *table) of(name string, period time.Duration) (out []series.Row) {
	for _, r := range s.rows {
		if (name == "" || r.Name == name) && r.Period == period {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b series.Row) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.NodeID, b.NodeID))
	})
	return out
}

// instruments are what a test says that they read.
type instruments struct {
	measures []series.Measure
	led      []bool
}

func (i *instruments) Sample(_ context.Context, leads bool) []series.Measure {
	i.led = append(i.led, leads)
	return i.measures
}

type published []monitoring.Collection

func (p *published) Publish(c monitoring.Collection) { *p = append(*p, c) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type collecting struct {
	*monitoring.Collector
	t     *testing.T
	clock *clocktest.Manual
	store *table
	from  *instruments
	told  published
}

func newCollecting(t *testing.T) *collecting {
	c := &collecting{t: t, clock: clocktest.NewManual(noon), store: newTable(), from: &instruments{}}
	c.Collector = monitoring.NewCollector(monitoring.CollectorDeps{
		Source: c.from, Store: c.store, Publisher: &c.told, Leads: func() bool { return true }, Clock: c.clock,
		NodeID: "n1",
	})
	return c
}

// at takes a sample at a time after noon.
func (c *collecting) at(after time.Duration, measures ...series.Measure) error {
	c.clock.Advance(noon.Add(after).Sub(c.clock.Now()))
	c.from.measures = measures
	return c.RunOnce(c.t.Context())
}

func running(n float64) series.Measure { return series.Measure{Name: "node.running", Value: n} }

func fires(n float64) series.Measure { return series.Measure{Name: "node.fires", Value: n} }

func ended(group string, n float64) series.Measure {
	return series.Measure{Name: "executions.ended", Group: group, Value: n}
}

func TestAMinuteIsOneRowOfEachSeries(t *testing.T) {
	c := newCollecting(t)
	require.NoError(t, c.at(30*time.Second, running(9), fires(5), ended("a", 1)))
	require.NoError(t, c.at(60*time.Second, running(1), fires(7), ended("a", 3), ended("b", 1)))
	require.NoError(t, c.at(75*time.Second, running(4), fires(7), ended("a", 3), ended("b", 1)))
	require.Empty(t, c.store.rows, "the minute is not over, and the first half minute waits for it")
	require.NoError(t, c.at(120*time.Second, running(100), fires(107), ended("a", 103)))
	at := noon.Add(time.Minute)
	require.Equal(t, []series.Row{{
		Name: "node.running", Period: time.Minute, Time: at, NodeID: "n1", Samples: 3, Sum: 14, Min: 1, Max: 9,
	}}, c.store.of("node.running", time.Minute), "a level is what the samples say")
	require.Equal(t, []series.Row{{
		Name: "node.fires", Period: time.Minute, Time: at, NodeID: "n1", Samples: 1, Sum: 7, Min: 7, Max: 7,
	}}, c.store.of("node.fires", time.Minute), "a sum is what was added since the process began")
	groups := c.store.of("executions.ended", time.Minute)
	require.Len(t, groups, 2)
	require.Equal(t, []any{"a", "n1", 3.0}, []any{groups[0].Group, groups[0].NodeID, groups[0].Sum})
	require.Equal(t, []any{"b", 1.0}, []any{groups[1].Group, groups[1].Sum})

	require.Len(t, c.told, 1, "each collection is told once")
	require.Equal(t, []any{"n1", at, 4}, []any{c.told[0].NodeID, c.told[0].Time, len(c.told[0].Rows)})
	require.NoError(t, c.Flush(t.Context()))
	require.InDelta(t, 100.0, c.store.of("node.fires", time.Minute)[1].Sum, 0, "a stop writes the minute that it cuts")
}

// A process that begins in a minute must not replace the row that its former life wrote of that minute.
func TestARestartKeepsTheRowOfItsMinute(t *testing.T) {
	c := newCollecting(t)
	require.NoError(t, c.at(0, fires(0)))
	require.NoError(t, c.at(time.Minute, fires(10)))
	require.NoError(t, c.Flush(t.Context()))
	before := c.store.of("node.fires", time.Minute)
	require.Len(t, before, 1)
	again := newCollecting(t)
	again.store = c.store
	again.Collector = monitoring.NewCollector(monitoring.CollectorDeps{
		Source: again.from, Store: c.store, Leads: func() bool { return false }, Clock: again.clock, NodeID: "n1",
	})
	require.NoError(t, again.at(80*time.Second, fires(1)))
	require.NoError(t, again.Flush(t.Context()))
	require.NoError(t, again.at(120*time.Second, fires(3)))
	require.NoError(t, again.at(180*time.Second, fires(3)))
	rows := c.store.of("node.fires", time.Minute)
	require.Len(t, rows, 2)
	require.Equal(t, before[0], rows[0])
	require.InDelta(t, 3.0, rows[1].Sum, 0)
	require.Equal(t, []bool{false, false, false}, again.from.led)
}

// A total that falls has begun again.
func TestATotalThatFallsCountsFromZero(t *testing.T) {
	c := newCollecting(t)
	require.NoError(t, c.at(0))
	require.NoError(t, c.at(60*time.Second, fires(50)))
	require.NoError(t, c.at(75*time.Second, fires(8)))
	require.NoError(t, c.at(120*time.Second, fires(8)))
	require.InDelta(t, 58.0, c.store.of("node.fires", time.Minute)[0].Sum, 0)
}

func TestRowsWaitForTheStoreUpToABound(t *testing.T) {
	c := newCollecting(t)
	require.NoError(t, c.at(0))
	require.NoError(t, c.at(time.Minute, running(1)))
	c.store.fail = errors.New("away")
	for m := 2; m <= 20_010; m++ {
		require.ErrorContains(t, c.at(time.Duration(m)*time.Minute, running(float64(m))), "away")
	}
	require.EqualValues(t, 9, c.Dropped())
	c.store.fail = nil
	require.NoError(t, c.at(20_010*time.Minute+time.Second))
	rows := c.store.of("node.running", time.Minute)
	require.Len(t, rows, 20_000)
	require.Equal(t, noon.Add(10*time.Minute), rows[0].Time, "the oldest went first")
	require.Equal(t, 20_000, c.store.puts, "what was written is not written again")
}

func TestWhatNobodyKnowsIsNotKept(t *testing.T) {
	c := newCollecting(t)
	stranger := series.Measure{Name: "node.made.up", Value: 1}
	require.NoError(t, c.at(0, stranger))
	require.NoError(t, c.at(time.Minute, stranger))
	require.NoError(t, c.at(2*time.Minute, stranger))
	require.Empty(t, c.store.rows)
}
