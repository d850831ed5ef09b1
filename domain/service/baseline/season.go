package baseline

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	// seasonAge is how old a baseline must be before it knows a season, in hours, and
	// bandRuns how many runs a band needs.
	seasonAge = 28 * 24
	bandRuns  = 5
	// explains is the share of the distance to the usual that must remain at most for
	// a season to begin to count, and doubts the one at which it stops.
	explains = 0.8
	doubts   = 0.9
	// maxPull is how far one run may pull the offset of a band, before its share.
	maxPull = 1
	// farthest bounds offsets and distances.
	farthest = 15
	// bandMemory is how many runs an offset rests on at most.
	bandMemory = 12
)

// seasonKind says by what the usual duration of a job differs.
type seasonKind uint8

const (
	noSeason seasonKind = iota
	byHour
	byWeekday
	seasonKinds
)

// band is how far runs of some hours, or of a weekday, lie off the level.
type band struct {
	// offset is in units of offsetStep.
	offset int16
	runs   uint8
}

const offsetStep = 1.0 / 2048

// season learns both kinds, and uses the one that explains enough.
type season struct {
	kind  seasonKind
	bands [24 + 7]band // of the hours, then of the weekdays from Sunday
	// off are the mean distances from the usual with no season and with each kind.
	off [seasonKinds]float32
	// learned counts runs, up to 255.
	learned uint8
}

// bandOf is the band of a kind that a moment belongs to.
func (s *season) bandOf(kind seasonKind, at time.Time) *band {
	if kind == byHour {
		return &s.bands[at.Hour()]
	}
	return &s.bands[24+int(at.Weekday())]
}

func (b *band) value() float64 { return float64(b.offset) * offsetStep }

// offset is how far a moment's runs lie off the level; false where the season counts
// and this band is not known yet.
func (s *season) offset(at time.Time) (offset float64, known bool) {
	if s.kind == noSeason {
		return 0, true
	}
	b := s.bandOf(s.kind, at)
	if b.runs < bandRuns {
		return 0, false
	}
	return b.value(), true
}

// learn takes the distance of a run from the level into account, age hours after the
// first run. It tells whether another season counts from now on.
func (s *season) learn(at time.Time, distance float64, age uint32) (changed bool) {
	if s.learned < math.MaxUint8 {
		s.learned++
	}
	share := 1 / min(float64(s.learned), fullWeight)
	for kind := range seasonKinds {
		rest := distance
		switch {
		case kind != noSeason:
			rest -= s.bandOf(kind, at).value()
		case s.kind != noSeason:
			rest -= s.center(s.kind)
		}
		rest = min(math.Abs(rest), farthest)
		s.off[kind] += float32((rest - float64(s.off[kind])) * share)
	}
	for _, kind := range [...]seasonKind{byHour, byWeekday} {
		s.bandOf(kind, at).learn(distance)
	}
	return s.choose(age)
}

func (b *band) learn(distance float64) {
	pull := min(max(distance, -farthest), farthest) - b.value()
	if b.runs > 0 {
		pull = min(max(pull, -maxPull), maxPull)
	}
	if b.runs < math.MaxUint8 {
		b.runs++
	}
	b.offset = int16(math.Round((b.value() + pull/min(float64(b.runs), bandMemory)) / offsetStep))
}

// choose begins to use a season that explains enough, and stops when it no longer does.
func (s *season) choose(age uint32) (changed bool) {
	if s.kind != noSeason {
		if s.off[s.kind] <= doubts*s.off[noSeason] {
			return false
		}
		s.kind = noSeason
		return true
	}
	best := byHour
	if s.off[byWeekday] < s.off[byHour] {
		best = byWeekday
	}
	if age < seasonAge || s.off[best] >= explains*s.off[noSeason] || s.known(best) < 2 {
		return false
	}
	s.kind = best
	return true
}

// cell names the band that counts at a moment; empty is none.
func (s *season) cell(at time.Time) string {
	switch s.kind {
	case byHour:
		return fmt.Sprintf("%02d", at.Hour())
	case byWeekday:
		return strings.ToUpper(at.Weekday().String())
	default:
		return ""
	}
}

// center is the mean offset of the known bands of a kind.
func (s *season) center(kind seasonKind) (mean float64) {
	n := 0.0
	for _, b := range s.of(kind) {
		if b.runs >= bandRuns {
			n++
			mean += (b.value() - mean) / n
		}
	}
	return mean
}

func (s *season) known(kind seasonKind) (n int) {
	for _, b := range s.of(kind) {
		if b.runs >= bandRuns {
			n++
		}
	}
	return n
}

func (s *season) of(kind seasonKind) []band {
	if kind == byHour {
		return s.bands[:24]
	}
	return s.bands[24:]
}

// hours is a moment in hours since 1970.
func hours(t time.Time) uint32 {
	return uint32(min(max(t.Unix()/3600, 0), math.MaxUint32))
}
