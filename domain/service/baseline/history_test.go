package baseline_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// The generated histories of a job, and what is known of them.

// begin is a Thursday.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// history makes the durations of a healthy job.
type history struct {
	name string
	// every is the distance of runs, 5 minutes if 0.
	every time.Duration
	// factor is how much longer than a minute the i-th run takes but for noise: a run
	// of normal work, whatever that is for the job.
	factor func(r *rand.Rand, i int, at time.Time) float64
	// noise is the standard deviation of the logarithm; odd adds to it.
	noise float64
	odd   func(r *rand.Rand) float64
	// idle is how many runs find nothing to do, and take 2 s.
	idle float64
	// known is from which run on anomalies are tried.
	known int
	// version changes at this run; 0: never.
	version int
	// fails is how many runs fail.
	fails float64

	// The floors: most false alarms in 1,000 runs of all jobs, and of the worst; least
	// share found of runs that take 3 and 10 times as long as normal work, and a quarter.
	alarms, worst        float64
	triple, tenfold, few float64
}

func always(factor float64) func(*rand.Rand, int, time.Time) float64 {
	return func(*rand.Rand, int, time.Time) float64 { return factor }
}

// rarely makes a share of the runs 5 to 20 times as long.
func rarely(share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return math.Log(5 + 15*r.Float64())
		}
		return 0
	}
}

func histories() []history {
	daily := func(_ *rand.Rand, _ int, at time.Time) float64 {
		return math.Pow(3, math.Sin(float64(at.Hour())/12*math.Pi)/2)
	}
	at2 := func(_ *rand.Rand, _ int, at time.Time) float64 {
		if at.Hour() == 2 {
			return 20
		}
		return 1
	}
	sundays := func(_ *rand.Rand, _ int, at time.Time) float64 {
		if at.Weekday() == time.Sunday {
			return 6
		}
		return 1
	}
	weekends := func(_ *rand.Rand, _ int, at time.Time) float64 {
		if day := at.Weekday(); day == time.Sunday || day == time.Saturday {
			return 0.3
		}
		return 1
	}
	doubling := func(runs float64) func(*rand.Rand, int, time.Time) float64 {
		return func(_ *rand.Rand, i int, _ time.Time) float64 { return math.Exp2(float64(i) / runs) }
	}
	step := func(_ *rand.Rand, i int, _ time.Time) float64 {
		if i >= 500 {
			return 3
		}
		return 1
	}
	const weeks6 = 6 * 7 * 24
	return []history{
		{name: "steady", noise: 0.02, triple: 1, tenfold: 1, few: 1, alarms: 0.02, worst: 0.4},
		{name: "noise ±10 %", noise: 0.1, triple: 0.99, tenfold: 1, few: 1, alarms: 0.2, worst: 1},
		{name: "noise ±15 %", noise: 0.15, triple: 0.96, tenfold: 1, few: 0.98, alarms: 0.25, worst: 1},
		{name: "noise ±20 %", noise: 0.2, triple: 0.75, tenfold: 1, few: 0.9, alarms: 0.3, worst: 1.4},
		{name: "noise ±35 %", noise: 0.3, triple: 0.25, tenfold: 0.98, few: 0.5, alarms: 0.4, worst: 2},
		{name: "noise ±65 %", noise: 0.5, tenfold: 0.4, alarms: 0.5, worst: 2.4},
		{name: "noise ±170 %", noise: 1, alarms: 1.2, worst: 4.5},
		{name: "double-exponential noise ±20 %", odd: func(r *rand.Rand) float64 {
			return 0.2 / math.Sqrt2 * r.ExpFloat64() * float64(1-2*r.IntN(2))
		}, tenfold: 0.98, few: 0.6, alarms: 1.4, worst: 3},
		{
			name: "doubles in 1,000 runs", factor: doubling(1000), noise: 0.1,
			triple: 0.99, tenfold: 1, few: 0.99, alarms: 0.3, worst: 1.7,
		},
		{
			name: "doubles in 200 runs", factor: doubling(200), noise: 0.1,
			triple: 0.97, tenfold: 0.99, few: 0.97, alarms: 0.2, worst: 1.4,
		},
		{
			name: "3 × by day, hourly", every: time.Hour, factor: daily, noise: 0.1, known: weeks6,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.3, worst: 1,
		},
		{
			name: "20 × at 02:00, hourly", every: time.Hour, factor: at2, noise: 0.1, known: weeks6,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.5, worst: 1.4,
		},
		{
			name: "6 × on Sundays, daily", every: 24 * time.Hour, factor: sundays, noise: 0.1, known: 6 * 7,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.6, worst: 2.4,
		},
		{
			name: "0.3 × at weekends, hourly", every: time.Hour, factor: weekends, noise: 0.1, known: weeks6,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.9, worst: 1.4,
		},
		{name: "1 % take 5 to 20 ×", noise: 0.1, odd: rarely(0.01), tenfold: 0, few: 0.97, alarms: 1.2, worst: 2.4},
		{
			name: "0.2 % take 5 to 20 ×", noise: 0.1, odd: rarely(0.002),
			tenfold: 0.1, few: 0.97, alarms: 1.3, worst: 2.4,
		},
		{
			name: "nothing to do in 95 %", factor: always(10), idle: 0.95, noise: 0.15,
			triple: 0.95, tenfold: 0.98, alarms: 0.9, worst: 1.7, few: 0,
		},
		{
			name: "nothing to do in 70 %", factor: always(10), idle: 0.7, noise: 0.15,
			triple: 0.95, tenfold: 0.98, alarms: 0.6, worst: 1.7,
		},
		{
			name: "nothing to do in 50 %", factor: always(10), idle: 0.5, noise: 0.15,
			alarms: 0.5, worst: 2, triple: 0.2, tenfold: 0.4,
		},
		{
			name: "nothing to do in 5 %", factor: always(10), idle: 0.05, noise: 0.15,
			triple: 0.9, tenfold: 0.99, alarms: 0.9, worst: 1.7,
		},
		{name: "takes 40 ms ± 65 %", factor: always(40.0 / 60_000), noise: 0.5, alarms: 0.02, worst: 0.4},
		{
			name: "3 × from a new version on", factor: step, version: 500, noise: 0.1, known: 700,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.9, worst: 1.4,
		},
		{
			name: "3 × from a run on", factor: step, noise: 0.1, known: 700,
			triple: 0.97, tenfold: 0.97, few: 0.97, alarms: 0.9, worst: 1.4,
		},
		{name: "1 % fail", noise: 0.1, fails: 0.01, triple: 0.99, tenfold: 1, few: 1, alarms: 0.3, worst: 1.4},
		{name: "20 % fail", noise: 0.1, fails: 0.2, triple: 0.99, tenfold: 1, few: 1, alarms: 0.4, worst: 1.7},
	}
}

// run makes the i-th run; normal tells whether it has done normal work.
func (h *history) run(r *rand.Rand, i int) (run baseline.Run, normal bool) {
	every := h.every
	if every == 0 {
		every = 5 * time.Minute
	}
	run = baseline.Run{Start: begin.Add(time.Duration(i) * every), Status: entity.StatusSuccess, Version: 1}
	if h.version > 0 && i >= h.version {
		run.Version = 2
	}
	if h.fails > 0 && r.Float64() < h.fails {
		run.Status = entity.StatusFailed
	}
	x := math.Log(60_000) + h.noise*r.NormFloat64()
	if h.factor != nil {
		x += math.Log(h.factor(r, i, run.Start))
	}
	odd := 0.0
	if h.odd != nil {
		odd = h.odd(r)
	}
	if r.Float64() < h.idle {
		return withLog(run, math.Log(2000)+h.noise*r.NormFloat64()), false
	}
	return withLog(run, x+odd), math.Abs(odd) < 1
}

func withLog(run baseline.Run, ms float64) baseline.Run {
	run.Duration = time.Duration(math.Exp(ms)) * time.Millisecond
	return run
}

func times(run baseline.Run, factor float64) baseline.Run {
	run.Duration = time.Duration(float64(run.Duration) * factor)
	return run
}

// seed is that of the environment, or one that is always the same: then the figures are
// those of the documentation.
func seed(t *testing.T) uint64 {
	text := os.Getenv(randtest.Variable)
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, randtest.Variable)
	return n
}
