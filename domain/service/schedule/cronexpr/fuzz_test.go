package cronexpr_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// shiftingZones have every kind of change of the clocks: by an hour, by half
// an hour, at midnight, by a whole day, twice a year around Ramadan, back and
// forth by decree, and (Monrovia) by 44 minutes and 30 seconds.
var shiftingZones = []string{
	"America/New_York", "Europe/London", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia",
	"Africa/Casablanca", "Africa/Cairo", "Asia/Shanghai", "Africa/Monrovia", "Asia/Tehran",
	"Pacific/Kwajalein", "America/Santiago", "Antarctica/Troll", "Asia/Pyongyang", "Europe/Dublin", "UTC",
}

// transitionNear is the first change of a zone's offset after an instant, or
// the instant if there is none.
func transitionNear(at int64, loc *time.Location) int64 {
	for probe := at; probe < at+400*86_400; probe += 6 * 3600 {
		if offset(probe, loc) == offset(probe+6*3600, loc) {
			continue
		}
		low, high := probe, probe+6*3600
		for high-low > 1 {
			if mid := (low + high) / 2; offset(mid, loc) == offset(low, loc) {
				low = mid
			} else {
				high = mid
			}
		}
		return high
	}
	return at
}

func FuzzCronParse(f *testing.F) {
	for _, seed := range []string{
		"0 0/5 * * * ?", "0 0 18 LW * ?", "0 0 18 L-3W * ?", "0 0 9 ? * FRI-MON", "0 0 18 ? * 6#3", "0 0 0 1 1 ? 2026/2",
		"*/5 * * * *", "0 9 * * mon-fri", "@daily", "@every 5m", "TZ=", "0 0 30 2 *", "0 0 0 29 2 ? 2100", "/5 * * * * ?",
		"１ * * * *",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, quartz bool) {
		dialect := cronexpr.Unix
		if quartz {
			dialect = cronexpr.Quartz
		}
		e, err := cronexpr.Parse(text, dialect)
		if err != nil {
			var wrong *cronexpr.SyntaxError
			require.ErrorAs(t, err, &wrong)
			require.NotEmpty(t, wrong.Field)
			require.NotEmpty(t, wrong.Message)
			require.Nil(t, e)
			return
		}
		requireRising(t, e, time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC), time.UTC, 5)
		requireRising(t, e, time.Date(2026, 3, 8, 6, 0, 0, 0, time.UTC), zone(t, "America/New_York"), 20)
	})
}

func requireRising(t require.TestingT, e *cronexpr.Expr, at time.Time, loc *time.Location, n int) {
	for range n {
		next, ok := e.Next(at, loc, "", cronexpr.Both)
		if !ok {
			return
		}
		require.True(t, next.After(at), "%s is not after %s", next, at)
		at = next
	}
}

// requireWalk compares a day and a half of fires around a change of the clocks
// with the walk over every second.
func requireWalk(t require.TestingT, pick source, loc *time.Location, year int) {
	p := newPlan(pick)
	gap := []cronexpr.Gap{"", cronexpr.NextValid, cronexpr.Skip}[pick(3)]
	overlap := []cronexpr.Overlap{"", cronexpr.First, cronexpr.Both}[pick(3)]
	start := time.Date(year, time.Month(1+pick(12)), 1+pick(28), 0, 0, 0, 0, time.UTC).Unix()
	start = transitionNear(start, loc) - int64(pick(5))*3600 - int64(pick(3))
	until := start + 12*3600

	e, err := cronexpr.Parse(p.text(), cronexpr.Quartz)
	if err != nil {
		require.ErrorIs(t, err, cronexpr.ErrNeverFires, p.text())
		return
	}
	require.Equal(t, p.runsOn(), e.RunsOn(), p.text())
	var got []int64
	for at := time.Unix(start, 0); ; {
		next, ok := e.Next(at, loc, gap, overlap)
		if !ok || next.Unix() > until {
			break
		}
		require.True(t, next.After(at), "%s is not after %s", next, at)
		got, at = append(got, next.Unix()), next
	}
	require.Equal(t, p.walk(start, until, loc, gap, overlap), got, "%q in %s from %d (%s, %s)", p.text(), loc, start, gap,
		overlap)
}

func FuzzCronNextDST(f *testing.F) {
	for i := range shiftingZones {
		f.Add(uint8(i), uint8(40+i), []byte{5, 0, 0, 5, 30, 0, 0, 5, 2, 0, 0, 5, 0, 0, 0, 0, 1, 0, 0, 8})
		f.Add(uint8(i), uint8(56-i), []byte{0, 0, 10, 1, 0, 0, 15, 2, 1, 3, 1, 3, 0, 0, 0, 0, 1, 0, 0, 8, 1})
	}
	f.Fuzz(func(t *testing.T, zoneIndex, year uint8, choices []byte) {
		loc := zone(t, shiftingZones[int(zoneIndex)%len(shiftingZones)])
		requireWalk(t, bytesSource(choices), loc, cronexpr.MinYear+1+int(year)%200)
	})
}

func FuzzTimezone(f *testing.F) {
	for _, name := range append([]string{"EST5EDT", "Etc/GMT+5", "../../etc/passwd", "Mars/Phobos"}, shiftingZones...) {
		f.Add(name, int64(1_772_952_600))
	}
	expressions := make([]*cronexpr.Expr, 0, 4)
	for _, text := range []string{"0 30 2 * * ?", "0 0/7 * * * ?", "0 0 0 L * ?", "0 0 0 29 2 ?"} {
		e, err := cronexpr.Parse(text, cronexpr.Quartz)
		require.NoError(f, err)
		expressions = append(expressions, e)
	}
	f.Fuzz(func(t *testing.T, name string, at int64) {
		loc, err := time.LoadLocation(name)
		if err != nil {
			return
		}
		for _, e := range expressions {
			requireRising(t, e, time.Unix(at, 0), loc, 10)
		}
	})
}

func TestEveryFireAroundAChangeOfTheClocksIsTheWalkersToo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		loc, err := time.LoadLocation(rapid.SampledFrom(shiftingZones).Draw(t, "zone"))
		require.NoError(t, err)
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		requireWalk(t, pick, loc, rapid.IntRange(1971, 2060).Draw(t, "year"))
	})
}

func TestEveryDayOfSixYearsIsTheWalkersToo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlan(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		p.second, p.minute, p.hour = one(7), one(8), one(9)
		e, err := cronexpr.Parse(p.text(), cronexpr.Quartz)
		if errors.Is(err, cronexpr.ErrNeverFires) {
			return
		}
		require.NoError(t, err)
		from := time.Date(rapid.IntRange(1970, 2190).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		var want []int64
		for day := from; day.Before(from.AddDate(6, 0, 0)); day = day.AddDate(0, 0, 1) {
			if fire := day.Unix() + 9*3600 + 8*60 + 7; p.matches(fire) {
				want = append(want, fire)
			}
		}
		require.Equal(t, want, fires(e, from.Unix()-1, time.UTC, "", "", len(want)), p.text())
	})
}

func one(v int) values {
	return values{text: string(rune('0' + v)), member: map[int]bool{v: true}}
}
