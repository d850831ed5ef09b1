package baseline

import (
	"math"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// minSpread and maxSpread bound the spread: what is steadier than 2 % may be so
	// by chance.
	minSpread = 0.02
	maxSpread = 5
	// deviation is the standard deviation of a normal distribution, as a multiple of
	// the distance that half of its values do not exceed.
	deviation = 1.4826
	// levelGain and spreadGain make a quantile that moves by its sign alone forget as
	// fast as its weight says, where logarithms are distributed normally.
	levelGain  = 1.25
	spreadGain = 1.17
)

// Learn takes a run into account, after Judge: runs in the order of their ends. A run
// that failed teaches how often runs fail; how long runs take is learned from successes
// alone. One run moves the baseline by a small step however long it took.
func (s *State) Learn(r Run) {
	if v := uint32(min(max(r.Version, 0), math.MaxInt32)); v > s.version {
		if s.version > 0 && s.runs >= MinRuns {
			s.halve()
		}
		s.version = v
	}
	switch {
	case r.Status.Failed():
		s.failures.learn(true)
		return
	case r.Status != entity.StatusSuccess:
		return
	}
	s.failures.learn(false)
	at := hours(r.Start)
	if s.runs == 0 {
		s.since, s.last = at, at
	}
	if s.runs < math.MaxUint32 {
		s.runs++
	}
	s.last, at = max(s.last, at), max(s.last, at)-s.last
	if s.runs <= MinRuns {
		s.begin(logOf(r.Duration))
		return
	}
	x := logOf(r.Duration)
	offset, _ := s.season.offset(r.Start)
	s.remember(x-offset, at)
	kind := s.season.kind
	if s.season.learn(r.Start, x-float64(s.level), s.last-s.since) {
		s.longer, s.shorter = outliers{}, outliers{} // they lie off another level
		if kind != noSeason {
			s.level += float32(s.season.center(kind))
		}
	}
	s.move(x - offset - float64(s.level))
}

// remember keeps what lies far off, though perhaps not far enough to be news.
func (s *State) remember(level float64, hours uint32) {
	s.longer.fade(hours)
	s.shorter.fade(hours)
	switch off := level - float64(s.level); {
	case off > notable*s.distance(minLonger):
		s.longer.add(level)
	case -off > notable*s.distance(minShorter):
		s.shorter.add(-level)
	}
}

// halve lets what was learned of a former version of the job count half.
func (s *State) halve() {
	s.weight = max(s.weight/2, 1)
	s.longer.scale(0.5)
	s.shorter.scale(0.5)
	s.failures.weight /= 2
}

// begin collects the first runs, and makes the baseline of them.
func (s *State) begin(x float64) {
	s.first = append(s.first, float32(x))
	if s.runs < MinRuns {
		return
	}
	s.level = median(s.first)
	off := convert.All(s.first, func(x float32) float32 { return max(x-s.level, s.level-x) })
	s.spread = min(max(median(off)*deviation, minSpread), maxSpread)
	s.weight = MinRuns
	for _, x := range s.first {
		s.remember(float64(x), 0)
	}
	s.first = nil
}

func median(values []float32) float32 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// move takes the distance of a run from the usual into account. Level and spread are
// quantiles that step towards each value by a length of their own: an outlier moves them
// no further than any other run.
func (s *State) move(distance float64) {
	s.weight = min(s.weight+1, fullWeight)
	share := 1 / float64(s.weight)
	spread := float64(s.spread)
	s.level += float32(sign(distance) * levelGain * share * spread)
	wider := sign(math.Abs(distance)-spread/deviation) * spreadGain * share
	s.spread = float32(min(max(spread*math.Exp(wider), minSpread), maxSpread))
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
