package baseline

import (
	"math"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// reach is how many standard deviations off a duration is news. It is wider by
	// caution/weight: of few runs nobody knows how much they differ.
	reach   = 3.3
	caution = 12
	// steady and wild are the least and the greatest spread that are believed. Of a
	// wilder job outliers tell more: it does different work from run to run.
	steady = 0.05
	wild   = 0.85
	// minLonger and minShorter are the least factors that are news, as logarithms: half
	// as long again, and half.
	minLonger  = 0.405
	minShorter = 0.693
	// minDifference is the least difference that is worth a word.
	minDifference = time.Second
	// notable is the share of the distance from which on an outlier is remembered.
	notable = 0.85
)

// distance is how far from the usual a duration is news, as a logarithm; least is the
// one by the least factor.
func (s *State) distance(least float64) float64 {
	return max(reach*min(max(float64(s.spread), steady), wild)*(1+caution/float64(s.weight)), least)
}

// Limit is the duration beyond which a run that started at a moment takes longer than
// usual; false while nobody can know. The moment is in the time zone of Run.Start.
func (s *State) Limit(start time.Time) (limit time.Duration, known bool) {
	offset, known := s.offset(start)
	if !known {
		return 0, false
	}
	level := float64(s.level)
	x := s.longer.limit(level + s.distance(minLonger))
	return max(expOf(x+offset), expOf(level+offset)+minDifference), true
}

// atLeast is the duration below which a run is faster than usual.
func (s *State) atLeast(start time.Time) (limit time.Duration, known bool) {
	offset, known := s.offset(start)
	if !known {
		return 0, false
	}
	level := float64(s.level)
	x := -s.shorter.limit(s.distance(minShorter) - level)
	return min(expOf(x+offset), expOf(level+offset)-minDifference), true
}

// Evaluate compares a run that has ended, and is not learned yet, with the usual. There is
// one finding at most.
func (s *State) Evaluate(r Run) (f Finding, found bool) {
	switch {
	case r.Status.Failed():
		return s.failures.evaluate()
	case r.Status != entity.StatusSuccess:
		return f, false
	}
	if limit, known := s.Limit(r.Start); known && r.Duration > limit {
		return s.finding(SlowRun, r.Start, r.Duration, limit), true
	}
	if limit, known := s.atLeast(r.Start); known && r.Duration < limit {
		return s.finding(FasterThanUsual, r.Start, r.Duration, limit), true
	}
	return f, false
}

// EvaluateRunning compares the age of an attempt that runs with the usual. A second look makes the same finding.
func (s *State) EvaluateRunning(start time.Time, age time.Duration) (f Finding, found bool) {
	limit, known := s.Limit(start)
	if !known || age <= limit {
		return f, false
	}
	f = s.finding(SlowRun, start, age, limit)
	f.Params.Running = true
	return f, true
}

// finding explains a duration.
func (s *State) finding(code Code, start time.Time, value, limit time.Duration) Finding {
	f := Finding{Code: code, Params: s.params(start)}
	f.Params.ValueMs, f.Params.LimitMs = value.Milliseconds(), limit.Milliseconds()
	return f
}

// Usual says how long runs that start at a moment usually take; false while nobody can
// know. The moment is in the time zone of Run.Start.
func (s *State) Usual(start time.Time) (p Params, known bool) {
	if _, known = s.offset(start); !known {
		return p, false
	}
	return s.params(start), true
}

// params say what is usual for a run that starts at a moment.
func (s *State) params(start time.Time) Params {
	offset, _ := s.offset(start)
	level, spread := float64(s.level)+offset, float64(s.spread)
	return Params{
		UsualMs: expOf(level).Milliseconds(),
		LowMs:   expOf(level - 2*spread).Milliseconds(),
		HighMs:  expOf(level + 2*spread).Milliseconds(),
		Cell:    s.season.cell(start),
		Runs:    int(s.runs),
	}
}

// maxLog is the logarithm of 34 years in ms.
const maxLog = 27.7

// logOf is the logarithm of a duration in ms. A shorter span counts as one.
func logOf(d time.Duration) float64 {
	return min(math.Log(float64(max(d, time.Millisecond))/float64(time.Millisecond)), maxLog)
}

// expOf is the duration of a logarithm, in whole ms.
func expOf(x float64) time.Duration {
	return time.Duration(math.Round(math.Exp(min(x, maxLog)))) * time.Millisecond
}
