package cronexpr_test

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// The rules that explain why a listed row differs from Quartz. Quartz leaves
// out times in a gap, goes silent for the first pass of a repeated hour, and
// fires a fixed time of that hour at its second pass.
const (
	ruleGap      = "gap-fires-at-first-valid-instant"
	ruleInterval = "interval-runs-through-repeated-hour"
	ruleFirst    = "fixed-time-fires-at-first-occurrence"
)

// goldenRow is one line of what Quartz 2.5.2 answered.
type goldenRow struct {
	id, expression, zoneCase string
	zone                     *time.Location
	start                    int64
	times                    []int64
	ended                    bool   // Quartz has no fire after times
	refusal                  string // Quartz' message
}

func (r goldenRow) key() string { return r.id + "/" + r.zoneCase }

func readLines(t testing.TB, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var rows [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if text := lines.Text(); text != "" && !strings.HasPrefix(text, "#") {
			rows = append(rows, strings.Split(text, "\t"))
		}
	}
	return rows
}

func readGolden(t testing.TB) []goldenRow {
	t.Helper()
	var rows []goldenRow
	for _, f := range readLines(t, "testdata/quartz-next-fire-times.tsv") {
		require.Len(t, f, 6)
		row := goldenRow{id: f[0], expression: f[1], zoneCase: f[2], zone: zone(t, f[3])}
		var err error
		row.start, err = strconv.ParseInt(f[4], 10, 64)
		require.NoError(t, err)
		if refusal, ok := strings.CutPrefix(f[5], "ERR "); ok {
			row.refusal = refusal
		} else {
			for text := range strings.SplitSeq(strings.TrimSuffix(f[5], ","), ",") {
				if text == "END" {
					row.ended = true
					continue
				}
				at, err := strconv.ParseInt(text, 10, 64)
				require.NoError(t, err)
				row.times = append(row.times, at)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// fires lists up to n fires after start.
func fires(e *cronexpr.Expr, start int64, loc *time.Location, gap cronexpr.Gap, overlap cronexpr.Overlap,
	n int,
) []int64 {
	var times []int64
	at := time.Unix(start, 0)
	for len(times) < n {
		next, ok := e.Next(at, loc, gap, overlap)
		if !ok {
			break
		}
		times, at = append(times, next.Unix()), next
	}
	return times
}

func TestFireTimesAgreeWithQuartz(t *testing.T) {
	t.Parallel()
	listed := map[string]string{}
	for _, f := range readLines(t, "testdata/quartz-deviations.tsv") {
		require.Len(t, f, 3)
		require.NotContains(t, listed, f[0]+"/"+f[1], "listed twice")
		listed[f[0]+"/"+f[1]] = f[2]
	}
	rows := readGolden(t)
	require.Len(t, rows, 840)
	counts := map[string]int{}
	for _, row := range rows {
		t.Run(row.key(), func(t *testing.T) {
			e, err := cronexpr.Parse(row.expression, cronexpr.Quartz)
			rule, isListed := listed[row.key()]
			delete(listed, row.key())
			switch {
			case row.refusal != "":
				require.Error(t, err, "Quartz refuses it: %s", row.refusal)
				counts["refused like Quartz"]++
			case row.id == "C09" || row.id == "F18":
				var wrong *cronexpr.SyntaxError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, "day-of-week", wrong.Field)
				require.Contains(t, wrong.Message, "Quartz", "says why: Quartz itself reads it wrongly")
				counts["refused Quartz bug"]++
			case len(row.times) == 0 && errors.Is(err, cronexpr.ErrNeverFires):
				require.True(t, row.ended)
				counts["agree: never fires"]++
			case !isListed:
				require.NoError(t, err)
				require.Equal(t, row.times, fires(e, row.start, row.zone, "", "", 20))
				require.Equal(t, row.ended, len(row.times) < 20)
				counts["agree"]++
			default:
				require.NoError(t, err)
				requireExplained(t, row, e, rule)
				counts[rule]++
			}
		})
	}
	require.Empty(t, listed, "listed rows that do not exist")
	t.Logf("%d rows: %v", len(rows), counts)
}

// requireExplained shows that a row differs, and by its rule only.
func requireExplained(t *testing.T, row goldenRow, e *cronexpr.Expr, rule string) {
	t.Helper()
	ours := fires(e, row.start, row.zone, "", "", 20)
	require.NotEqual(t, row.times, ours, "listed but the same")
	switch rule {
	case ruleGap:
		require.Equal(t, row.times, fires(e, row.start, row.zone, cronexpr.Skip, "", 20),
			"the answer to gaps is all that differs")
		for _, at := range missingFrom(row.times, ours) {
			require.Greater(t, offset(at, row.zone), offset(at-1, row.zone), "an added fire is the end of a gap")
		}
	case ruleInterval:
		require.True(t, e.RunsOn())
		for _, at := range missingFrom(row.times, ours) {
			require.Len(t, instants(at+offset(at, row.zone), row.zone), 2, "an added fire lies in the repeated hour")
		}
		require.Subset(t, append(ours, after(row.times, ours[len(ours)-1])...), row.times, "no fire of Quartz is lost")
	case ruleFirst:
		require.False(t, e.RunsOn())
		require.Len(t, ours, len(row.times))
		for i, at := range ours {
			wall := at + offset(at, row.zone)
			require.Equal(t, row.times[i]+offset(row.times[i], row.zone), wall, "the same wall-clock time")
			require.Equal(t, instants(wall, row.zone)[0], at, "at its first occurrence")
		}
	default:
		require.Fail(t, "no such rule", rule)
	}
}

// missingFrom are the times of b that a lacks.
func missingFrom(a, b []int64) []int64 {
	known := map[int64]bool{}
	for _, at := range a {
		known[at] = true
	}
	var missing []int64
	for _, at := range b {
		if !known[at] {
			missing = append(missing, at)
		}
	}
	return missing
}

// after are the times beyond a bound.
func after(times []int64, bound int64) []int64 {
	var later []int64
	for _, at := range times {
		if at > bound {
			later = append(later, at)
		}
	}
	return later
}

func offset(at int64, loc *time.Location) int64 {
	_, seconds := time.Unix(at, 0).In(loc).Zone()
	return int64(seconds)
}

// instants are the one, two or no instants at which a wall clock shows a time,
// found by trying every offset in use within a day of it.
func instants(wall int64, loc *time.Location) []int64 {
	var found []int64
	tried := map[int64]bool{}
	for probe := wall - 2*86_400; probe <= wall+2*86_400; probe += 900 {
		o := offset(probe, loc)
		if tried[o] {
			continue
		}
		tried[o] = true
		if offset(wall-o, loc) == o {
			found = append(found, wall-o)
		}
	}
	if len(found) == 2 && found[0] > found[1] {
		found[0], found[1] = found[1], found[0]
	}
	return found
}
