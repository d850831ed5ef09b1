package schedule

import (
	"math/bits"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Load counts the fires of many schedules, minute by minute. Fixed rates are computed. A
// cron is walked from one minute in which it fires to the next. Schedules that differ in
// their jitter alone are walked once. It is for one goroutine.
type Load struct {
	from  int64 // ms since 1970, the beginning of the first minute
	fires []int
	steps int
	walks map[walkKey][]firedMinute
	kept  int
}

const (
	minuteMs = 60_000
	// keptMinutes bounds the memory of what was walked, at 16 bytes each.
	keptMinutes = 1_000_000
)

// walkKey is all that a walk depends on, but the window of the Load.
type walkKey struct {
	expr       *cronexpr.Expr
	zone       *time.Location
	gap        cronexpr.Gap
	overlap    cronexpr.Overlap
	start, end int64
	// back is by how many minutes the walk begins before the window, for fires
	// that jitter moves into it.
	back int64
}

// firedMinute is a minute, counted from the first of the window, and the
// seconds of it, bits 0–59, that a cron names.
type firedMinute struct {
	minute  int
	seconds uint64
}

// NewLoad counts in that many minutes from a moment on, which is cut to its minute. steps
// bounds the work: it is how many times of crons may be computed.
func NewLoad(from time.Time, minutes, steps int) *Load {
	return &Load{
		from: from.UnixMilli() / minuteMs * minuteMs, fires: make([]int, minutes), steps: steps,
		walks: map[walkKey][]firedMinute{},
	}
}

// Fires are the counts so far, one for each minute.
func (l *Load) Fires() []int { return l.fires }

// Add counts the scheduled times of a schedule that so many jobs have, moved by
// their jitter. It is false when the steps are used up, and the schedule is counted
// in part. A FixedDelay names no times ahead: give the one that is planned to AddAt.
func (l *Load) Add(s *Schedule, jitter time.Duration, jobs int) bool {
	shift := jitter.Milliseconds()
	switch s.kind {
	case Cron:
		walked, complete := l.walk(s)
		l.addWalk(walked, shift, jobs)
		return complete
	case FixedRate:
		l.addRate(s, shift, jobs)
	case Once:
		if at, ok := s.bounded(s.first); ok {
			l.add(l.minuteOf(at.Add(jitter).UnixMilli()), jobs)
		}
	}
	return true
}

// AddAt counts one fire.
func (l *Load) AddAt(t time.Time) { l.add(l.minuteOf(t.UnixMilli()), 1) }

// add counts fires of a minute, if it is one of the window.
func (l *Load) add(minute, n int) {
	if minute >= 0 && minute < len(l.fires) {
		l.fires[minute] += n
	}
}

// minuteOf is negative for moments before the window.
func (l *Load) minuteOf(ms int64) int {
	if ms < l.from {
		return -int((l.from-ms-1)/minuteMs) - 1
	}
	return int((ms - l.from) / minuteMs)
}

// end is the first millisecond after the window.
func (l *Load) end() int64 { return l.from + int64(len(l.fires))*minuteMs }

func (l *Load) addRate(s *Schedule, shift int64, jobs int) {
	first, last := s.first+shift, min(s.end+shift, l.end()-1)
	if s.interval >= minuteMs {
		at := first
		if at < l.from {
			at += (l.from - at + s.interval - 1) / s.interval * s.interval
		}
		for ; at <= last; at += s.interval {
			l.add(l.minuteOf(at), jobs)
		}
		return
	}
	// before is how many fires come before a moment.
	before := func(ms int64) int64 {
		if ms = min(ms, last+1); ms <= first {
			return 0
		}
		return (ms-1-first)/s.interval + 1
	}
	past := before(l.from)
	for minute := range l.fires {
		now := before(l.from + int64(minute+1)*minuteMs)
		l.fires[minute] += jobs * int(now-past)
		past = now
	}
}

// addWalk counts what a walk found. Of each minute, the seconds from some
// second on are moved over its end.
func (l *Load) addWalk(walked []firedMinute, shift int64, jobs int) {
	whole, rest := int(shift/minuteMs), shift%minuteMs
	stay := uint64(1)<<((minuteMs-rest+999)/1000) - 1
	for _, m := range walked {
		all, n := bits.OnesCount64(m.seconds), bits.OnesCount64(m.seconds&stay)
		l.add(m.minute+whole, jobs*n)
		l.add(m.minute+whole+1, jobs*(all-n))
	}
}

// walk lists the minutes in which a cron fires, or recalls them; complete is
// false when the steps ran out.
func (l *Load) walk(s *Schedule) (walked []firedMinute, complete bool) {
	key := walkKey{s.expr, s.zone, s.gap, s.overlap, s.start, s.end, (s.jitter + minuteMs - 1) / minuteMs}
	if walked, ok := l.walks[key]; ok {
		return walked, true
	}
	cursor := l.from - key.back*minuteMs - 1
	for l.steps > 0 {
		at, ok := l.next(s, cursor)
		if !ok || at >= l.end() {
			if l.kept+len(walked) <= keptMinutes {
				l.walks[key], l.kept = walked, l.kept+len(walked)
			}
			return walked, true
		}
		minute := l.minuteOf(at)
		begin := l.from + int64(minute)*minuteMs
		walked = append(walked, firedMinute{minute, l.seconds(s, begin, at)})
		cursor = begin + minuteMs - 1
	}
	return walked, false
}

// seconds are those of the minute on which the schedule fires, from the first
// of them. They are the expression's own if its last one is among them too;
// else the schedule begins or ends here, or clocks change.
func (l *Load) seconds(s *Schedule, begin, first int64) uint64 {
	pattern := s.expr.Seconds()
	lowest, highest := int64(bits.TrailingZeros64(pattern)), int64(bits.Len64(pattern)-1)
	if first == begin+lowest*1000 {
		if lowest == highest {
			return pattern
		}
		last := begin + highest*1000
		if at, ok := l.next(s, last-1); ok && at == last {
			return pattern
		}
	}
	var seconds uint64
	for at, ok := first, true; ok && at < begin+minuteMs; at, ok = l.next(s, at) {
		seconds |= 1 << ((at - begin) / 1000)
	}
	return seconds
}

// next is the next scheduled time after a moment, both in ms.
func (l *Load) next(s *Schedule, after int64) (int64, bool) {
	l.steps--
	at, ok := s.Next(time.UnixMilli(after))
	return at.UnixMilli(), ok
}
