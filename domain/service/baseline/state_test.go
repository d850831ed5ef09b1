package baseline_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

func ran(i int, took time.Duration) baseline.Run {
	start := begin.Add(time.Duration(i) * time.Hour)
	return baseline.Run{Start: start, Duration: took, Status: entity.StatusSuccess, Version: 1}
}

// after is the baseline of so many runs of a history.
func after(h history, n int) *baseline.State {
	r := rand.New(rand.NewPCG(1, 1))
	s := &baseline.State{}
	for i := range n {
		run, _ := h.run(r, i)
		s.Learn(run)
	}
	return s
}

var ordinary = history{noise: 0.1}

func usual(t require.TestingT, s *baseline.State, start time.Time) time.Duration {
	f, found := s.EvaluateRunning(start, 1000*time.Hour)
	require.True(t, found)
	return time.Duration(f.Params.UsualMs) * time.Millisecond
}

func TestNothingIsUsualBeforeTheTenthRun(t *testing.T) {
	t.Parallel()
	var s baseline.State
	for i := range baseline.MinRuns {
		require.Equal(t, i, s.Runs())
		_, known := s.Limit(begin)
		require.False(t, known)
		_, found := s.Evaluate(ran(i, 1000*time.Hour))
		require.False(t, found)
		_, found = s.AtRisk(begin, begin, begin.Add(time.Second))
		require.False(t, found)
		s.Learn(ran(i, time.Duration(i+1)*time.Minute))
	}
	limit, known := s.Limit(begin)
	require.True(t, known)
	require.Greater(t, limit, 10*time.Minute)
	require.InDelta(t, 5.5, usual(t, &s, begin).Minutes(), 0.1, "the median of 1 to 10 minutes")
}

func TestARunMovesTheUsualALittleHoweverLongItTook(t *testing.T) {
	t.Parallel()
	long, longer := after(ordinary, 200), after(ordinary, 200)
	before := usual(t, long, begin)
	long.Learn(ran(200, 90*time.Second))
	longer.Learn(ran(200, 900*time.Hour))
	require.Equal(t, usual(t, long, begin), usual(t, longer, begin))
	require.InEpsilon(t, before, usual(t, long, begin), 0.01)
	require.Greater(t, usual(t, long, begin), before)
}

// A change counts half after 50 runs, on the average of many jobs.
func TestTheUsualForgetsHalfIn50Runs(t *testing.T) {
	t.Parallel()
	moved := 0.0
	for job := range uint64(200) {
		r := rand.New(rand.NewPCG(7, job))
		var s baseline.State
		for i := range 350 {
			ms := math.Log(60_000) + 0.2*r.NormFloat64()
			if i >= 300 {
				ms += 0.1
			}
			s.Learn(withLog(ran(i, 0), ms))
		}
		moved += math.Log(usual(t, &s, begin).Seconds()/60) / 200
	}
	require.InDelta(t, 0.05, moved, 0.01)
}

func TestANewVersionTeachesFaster(t *testing.T) {
	t.Parallel()
	same, changed := after(ordinary, 300), after(ordinary, 300)
	for i := range 20 {
		run := ran(300+i, 70*time.Second)
		same.Learn(run)
		run.Version = 2
		changed.Learn(run)
	}
	require.Greater(t, usual(t, changed, begin), usual(t, same, begin))
	old := ran(320, 70*time.Second)
	limit, _ := changed.Limit(begin)
	changed.Learn(old)
	after, _ := changed.Limit(begin)
	require.InEpsilon(t, limit, after, 0.02, "a late end of the former version is none of a new one")
}

func TestWhatHappenedTwiceLatelyIsNoNews(t *testing.T) {
	t.Parallel()
	s := after(ordinary, 200)
	judge := func(i int, took time.Duration) bool {
		_, found := s.Evaluate(ran(i, took))
		s.Learn(ran(i, took))
		return found
	}
	require.True(t, judge(200, 5*time.Minute))
	require.True(t, judge(210, 5*time.Minute))
	require.False(t, judge(220, 5*time.Minute))
	require.True(t, judge(230, 10*time.Minute), "but longer is")
	require.True(t, judge(240, time.Second))
	require.True(t, judge(250, time.Second))
	require.False(t, judge(260, time.Second))

	year := 24 * 365
	require.False(t, judge(year, time.Minute))
	require.True(t, judge(year+1, 5*time.Minute), "after a year it is news again")

	s = after(ordinary, 200)
	for range 2 {
		s.Learn(ran(200, 5*time.Minute))
	}
	_, found := s.Evaluate(ran(201, 5*time.Minute))
	require.False(t, found)
	s.Learn(baseline.Run{
		Start: begin.Add(202 * time.Hour), Duration: time.Minute, Status: entity.StatusSuccess,
		Version: 2,
	})
	_, found = s.Evaluate(ran(203, 5*time.Minute))
	require.True(t, found, "a new version halves what outliers count")
}

func TestASeasonNeedsFourWeeksAndFiveRuns(t *testing.T) {
	t.Parallel()
	var sundays history
	for _, h := range histories() {
		if h.name == "6 × on Sundays, daily" {
			sundays = h
		}
	}
	cell := func(days int) string {
		s := after(sundays, days)
		sunday := begin.AddDate(0, 0, days)
		for sunday.Weekday() != time.Sunday {
			sunday = sunday.AddDate(0, 0, 1)
		}
		f, found := s.EvaluateRunning(sunday, 1000*time.Hour)
		require.Equal(t, found, days < 30 || f.Params.Cell != "", "of a Sunday nobody knows in between")
		return f.Params.Cell
	}
	require.Empty(t, cell(28))
	require.Equal(t, "SUNDAY", cell(6*7))

	s := after(sundays, 20*7)
	monday := begin.AddDate(0, 0, 4+20*7)
	require.Equal(t, time.Monday, monday.Weekday())
	require.InEpsilon(t, 6.0, float64(usual(t, s, monday.AddDate(0, 0, -1)))/float64(usual(t, s, monday)), 0.1)
	_, found := s.EvaluateRunning(monday, 3*time.Minute)
	require.True(t, found, "what is usual on Sundays is not on Mondays")

	steady := history{noise: 0.1, every: 7 * time.Hour}
	r, noise := rand.New(rand.NewPCG(1, 1)), &baseline.State{}
	for i := range 400 {
		run, _ := steady.run(r, i)
		noise.Learn(run)
		f, _ := noise.EvaluateRunning(begin, 1000*time.Hour)
		require.Empty(t, f.Params.Cell, "noise has no season, after %d runs", i+1)
	}
}

func TestASeasonThatEndsIsForgotten(t *testing.T) {
	t.Parallel()
	h := history{every: 24 * time.Hour, noise: 0.1, factor: func(_ *rand.Rand, i int, at time.Time) float64 {
		if at.Weekday() == time.Sunday && i < 400 {
			return 6
		}
		return 1
	}}
	f, _ := after(h, 400).EvaluateRunning(begin, 1000*time.Hour)
	require.Equal(t, "THURSDAY", f.Params.Cell)
	s := after(h, 1000)
	f, _ = s.EvaluateRunning(begin, 1000*time.Hour)
	require.Empty(t, f.Params.Cell)
	require.InEpsilon(t, time.Minute, usual(t, s, begin), 0.1)
}

// The zone of a start decides which hour and weekday it is.
func TestSeasonsGoByTheZoneOfTheStart(t *testing.T) {
	t.Parallel()
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	end := statistics.End{
		At: begin.Add(20 * time.Minute), Duration: 30 * time.Minute, Started: true, Status: entity.StatusSuccess,
		Trigger: entity.TriggerSchedule, Version: 4,
	}
	run, ok := baseline.RunOf(&end, shanghai)
	require.True(t, ok)
	require.Equal(t, 7, run.Start.Hour())
	require.True(t, run.Start.Equal(begin.Add(-10*time.Minute)))
	require.Equal(t, []any{30 * time.Minute, entity.StatusSuccess, 4}, []any{run.Duration, run.Status, run.Version})
}

func TestWhichEndsTeach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(e *statistics.End)
		want   bool
	}{
		"a success":               {func(*statistics.End) {}, true},
		"a failure":               {func(e *statistics.End) { e.Status = entity.StatusFailed }, true},
		"a timeout":               {func(e *statistics.End) { e.Status = entity.StatusTimeout }, true},
		"a dead letter":           {func(e *statistics.End) { e.Status = entity.StatusDead }, true},
		"a cancelled run":         {func(e *statistics.End) { e.Status = entity.StatusCancelled }, false},
		"a fire that did not run": {func(e *statistics.End) { e.Status = entity.StatusSkipped }, false},
		"a run that never began":  {func(e *statistics.End) { e.Started = false }, false},
		"a run by hand":           {func(e *statistics.End) { e.Trigger = entity.TriggerManual }, false},
		"a shard":                 {func(e *statistics.End) { e.Shards = 2 }, false},
	} {
		e := statistics.End{At: begin, Started: true, Status: entity.StatusSuccess, Trigger: entity.TriggerSchedule}
		c.change(&e)
		_, ok := baseline.RunOf(&e, time.UTC)
		require.Equal(t, c.want, ok, name)
	}
	s := after(ordinary, 20)
	before := s.Append(nil)
	cancelled := ran(20, time.Hour)
	cancelled.Status = entity.StatusCancelled
	s.Learn(cancelled)
	_, found := s.Evaluate(cancelled)
	require.False(t, found)
	require.Equal(t, before, s.Append(nil))
	failed := ran(21, 1000*time.Hour)
	failed.Status = entity.StatusFailed
	s.Learn(failed)
	require.Equal(t, 20, s.Runs(), "how long a run takes that fails is not usual")
}

// A node that compares the age of a run finds the same as the fold when it ends.
func TestARunIsJudgedAlikeBeforeAndAfterItsEnd(t *testing.T) {
	t.Parallel()
	all := histories()
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(all).Draw(t, "history")
		s := after(h, rapid.IntRange(0, 1500).Draw(t, "runs"))
		took := time.Duration(rapid.IntRange(0, 3_600_000).Draw(t, "ms")) * time.Millisecond
		run := ran(rapid.IntRange(1500, 1800).Draw(t, "start"), took)
		ended, slow := s.Evaluate(run)
		running, slowly := s.EvaluateRunning(run.Start, run.Duration)
		limit, known := s.Limit(run.Start)
		require.Equal(t, slowly, slow && ended.Code == baseline.SlowRun)
		require.Equal(t, slowly, known && run.Duration > limit)
		if slowly {
			running.Params.Running = false
			require.Equal(t, ended, running)
			require.GreaterOrEqual(t, run.Duration.Milliseconds(), running.Params.UsualMs+1000)
		}
		if slow && ended.Code == baseline.FasterThanUsual {
			require.Less(t, 2*run.Duration.Milliseconds(), ended.Params.UsualMs+2)
		}
	})
}

func TestFindingsExplainThemselves(t *testing.T) {
	t.Parallel()
	s := after(history{noise: 0.08}, 300)
	f, found := s.Evaluate(ran(300, 5*time.Minute))
	require.True(t, found)
	require.Equal(t, baseline.Finding{Code: baseline.SlowRun, Params: baseline.Params{
		ValueMs: 300_000, UsualMs: 59_643, LowMs: 50_711, HighMs: 70_147, LimitMs: 89_422, Runs: 300,
	}}, f)
	require.Equal(t, "It took 5m0s. It usually takes 1m0s, nearly always from 51s to 1m10s, by 300 runs. "+
		"More than 1m29s is unusual.", f.Sentence())
	text, err := json.Marshal(f)
	require.NoError(t, err)
	require.JSONEq(t, `{"code":"SLOW_RUN","params":
		{"valueMs":300000,"usualMs":59643,"lowMs":50711,"highMs":70147,"limitMs":89422,"runs":300}}`, string(text))

	f, _ = s.EvaluateRunning(begin, 2*time.Minute)
	require.Contains(t, f.Sentence(), "It has run for 2m0s.")
	f, _ = s.Evaluate(ran(300, 1500*time.Millisecond))
	require.Equal(t, baseline.FasterThanUsual, f.Code)
	require.Equal(t, "It took 1.5s. It usually takes 1m0s, nearly always from 51s to 1m10s, by 300 runs. "+
		"Less than 30s is unusual.", f.Sentence())

	failed := ran(300, time.Minute)
	failed.Status = entity.StatusFailed
	for range 5 {
		f, found = s.Evaluate(failed)
		s.Learn(failed)
	}
	require.True(t, found)
	require.Equal(t, "4 of the last 4 runs failed. Usually 0.98 % of them fail, by 101 runs before.", f.Sentence())

	for _, h := range histories() {
		start := begin.Add(2 * time.Hour)
		switch h.name {
		case "20 × at 02:00, hourly":
			f, _ = after(h, 2000).EvaluateRunning(start, time.Hour)
			require.Contains(t, f.Sentence(), "When it starts from 02:00 to 02:59, it usually takes 19m51s, ")
		case "6 × on Sundays, daily":
			f, _ = after(h, 200).EvaluateRunning(start, time.Hour)
			require.Contains(t, f.Sentence(), "On Thursdays it usually takes 58s, ")
		}
	}
}

func TestADeadlineIsAtRiskInTime(t *testing.T) {
	t.Parallel()
	s := after(history{noise: 0.08}, 300) // usually 1 minute
	for _, c := range []struct {
		age, left time.Duration
		want      bool
	}{
		{0, 30 * time.Second, true},
		{0, 2 * time.Minute, false},
		{20 * time.Second, 30 * time.Second, true},
		{20 * time.Second, 60 * time.Second, false},
		{-time.Minute, 30 * time.Second, true}, // it starts in a minute
		{-time.Minute, 3 * time.Minute, false},
		{10 * time.Minute, time.Second, true}, // long overdue
		{10 * time.Minute, time.Hour, false},
		{30 * time.Second, -time.Second, false}, // it is missed already
	} {
		f, found := s.AtRisk(begin, begin.Add(c.age), begin.Add(c.age+c.left))
		require.Equal(t, c.want, found, "%+v: %s", c, f.Sentence())
		if found {
			require.True(t, f.Params.ExpectedEnd.After(f.Params.Deadline))
			require.GreaterOrEqual(t, f.Params.Chance, 0.8)
			require.Equal(t, c.age > 0, f.Params.Running)
		}
	}
	f, _ := s.AtRisk(begin, begin.Add(20*time.Second), begin.Add(50*time.Second))
	require.Equal(t, "It will probably end at 2026-01-01 00:00:59 UTC, after its deadline of 2026-01-01 00:00:50 UTC: "+
		"so do 98 of 100 such runs. "+
		"It has run for 20s. It usually takes 1m0s, nearly always from 51s to 1m10s, by 300 runs.", f.Sentence())
}
