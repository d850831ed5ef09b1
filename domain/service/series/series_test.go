package series_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// Rows that are stored already keep their ids.
func TestTheIDOfARowIsFrozen(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	row := series.Row{Name: "node.cpu", Period: series.Minute, Time: at, NodeID: "n1", Samples: 4, Sum: 2}
	require.Equal(t, "7f758292fcbdc7e127f349a783e0d6e9", row.ID())
	again := row
	again.Samples, again.Sum = 9, 9
	require.Equal(t, row.ID(), again.ID(), "values do not count")
	seen := map[string]bool{row.ID(): true}
	for _, change := range []func(r *series.Row){
		func(r *series.Row) { r.Name = "node.load1" }, func(r *series.Row) { r.Period = series.Hour },
		func(r *series.Row) { r.Time = at.Add(time.Minute) }, func(r *series.Row) { r.NodeID = "n" },
		func(r *series.Row) { r.Group = "1" }, func(r *series.Row) { r.NodeID, r.Group = "n", "1" },
	} {
		other := row
		change(&other)
		require.False(t, seen[other.ID()], "%+v", other)
		seen[other.ID()] = true
	}
}

func TestRowsMergeToMeanAndBounds(t *testing.T) {
	var sum series.Row
	sum.Merge(series.Row{Samples: 3, Sum: 30, Min: 5, Max: 20})
	sum.Merge(series.Row{})
	sum.Merge(series.Row{Samples: 1, Sum: 2, Min: 2, Max: 2})
	require.Equal(t, series.Row{Samples: 4, Sum: 32, Min: 2, Max: 20}, sum)
	require.InDelta(t, 8.0, sum.Value(series.Gauge), 0)
	require.InDelta(t, 32.0, sum.Value(series.Sum), 0)
	require.Zero(t, series.Row{}.Value(series.Gauge))
}

// docs/metrics.md lists the series that there are, with unit and meaning.
func TestTheDocumentListsEverySeries(t *testing.T) {
	page, err := os.ReadFile("../../../docs/metrics.md")
	require.NoError(t, err)
	var listed, known [][]string
	row := regexp.MustCompile("(?m)^\\| `([a-z]+\\.[A-Za-z0-9]+)` \\| (\\w+) \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1:])
	}
	for _, d := range series.Defs() {
		known = append(known, []string{d.Name, string(d.Scope), string(d.Kind), d.Unit, d.Meaning})
	}
	require.Equal(t, known, listed)
}
