// Package measure compares what was planned with what was seen: lost and doubled
// fires, lateness, and starts out of the order of priority. It does no I/O.
package measure

import (
	"math/bits"
	"slices"
	"sync"
	"time"
)

// Ledger holds what is planned against what was seen. The plan is made here,
// from the definitions, and not read from the engine. Safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	plans []plan
	// seen holds a bit for each attempt of a fire that was entered.
	seen   map[Fire]uint32
	starts []StartEvent
	// duplicate counts entries of an attempt that had been entered, unexpected
	// those of fires that nobody had planned.
	duplicate, unexpected int
}

// Fire is a planned fire: a job by its number, and the scheduled time in ms.
type Fire struct {
	Job           uint32
	ScheduledTime int64
}

// plan is when a job fires: at first, and then at every interval, in ms. An
// interval of 0 is one fire, a first of 0 none.
type plan struct{ first, every int64 }

// due counts the fires before a moment.
func (p plan) due(until int64) int {
	switch {
	case p.first == 0 || p.first >= until:
		return 0
	case p.every == 0:
		return 1
	}
	return int((until-1-p.first)/p.every + 1)
}

// holds reports whether the job fires at that time.
func (p plan) holds(scheduled int64) bool {
	if p.first == 0 || scheduled < p.first {
		return false
	}
	return scheduled == p.first || p.every > 0 && (scheduled-p.first)%p.every == 0
}

// NewLedger returns a ledger that has room for so many entries.
func NewLedger(expected int) *Ledger {
	return &Ledger{seen: make(map[Fire]uint32, expected), starts: make([]StartEvent, 0, expected)}
}

// Plan enters a job by its number; every is 0 for one fire.
func (l *Ledger) Plan(job int, first time.Time, every time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if job >= len(l.plans) {
		l.plans = append(l.plans, make([]plan, job+1-len(l.plans))...)
	}
	l.plans[job] = plan{first.UnixMilli(), every.Milliseconds()}
}

func (l *Ledger) planned(f Fire) bool {
	return int(f.Job) < len(l.plans) && l.plans[f.Job].holds(f.ScheduledTime)
}

// See notes entries.
func (l *Ledger) See(some ...StartEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range some {
		f, bit := Fire{s.Job, s.ScheduledTime}, uint32(1)<<min(s.Attempt, 31)
		if !l.planned(f) {
			l.unexpected++
			continue
		}
		if l.seen[f]&bit != 0 {
			l.duplicate++
		}
		l.seen[f] |= bit
		l.starts = append(l.starts, s)
	}
}

// Tally is the outcome of a bench.
type Tally struct{ Planned, Lost, Doubled int }

// Account compares the plan up to a moment with what was seen. A second attempt
// is no double: it is a run that was lost and retried.
func (l *Ledger) Account(until time.Time) Tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Tally{Doubled: l.duplicate + l.unexpected}
	l.each(until, func(f Fire) {
		t.Planned++
		if l.seen[f] == 0 {
			t.Lost++
		}
	})
	return t
}

// each walks over the plan up to a moment.
func (l *Ledger) each(until time.Time, visit func(f Fire)) {
	for job, p := range l.plans {
		for i := range p.due(until.UnixMilli()) {
			visit(Fire{uint32(job), p.first + int64(i)*p.every})
		}
	}
}

// retried counts fires of which more than one attempt was entered.
func (l *Ledger) retried() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, attempts := range l.seen {
		if bits.OnesCount32(attempts) > 1 {
			n++
		}
	}
	return n
}

// Starts are all so far, in the order of their arrival; they are read only.
func (l *Ledger) Starts() []StartEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.starts)
}

// Lateness is handler entry minus due time, of first attempts of fires due from
// a moment on.
func (l *Ledger) Lateness(from time.Time) *Quantiles {
	var ms []float64
	for _, s := range l.Starts() {
		if s.ScheduledTime >= from.UnixMilli() && s.Attempt <= 1 {
			ms = append(ms, float64(s.At-s.ScheduledTime*1000)/1000)
		}
	}
	return Summarize(ms)
}

// LastAfter is the latest entry, in ms after t.
func (l *Ledger) LastAfter(t time.Time) float64 {
	last := t.UnixMicro()
	for _, s := range l.Starts() {
		last = max(last, s.At)
	}
	return float64(last-t.UnixMicro()) / 1000
}

// Pace is how many entries a second there were between the first tenth of all and the last one; 0 where they are too
// few to say.
func (l *Ledger) Pace() float64 {
	l.mu.Lock()
	at := make([]int64, len(l.starts))
	for i, s := range l.starts {
		at[i] = s.At
	}
	l.mu.Unlock()
	return PaceOf(at)
}

// PaceOf is the pace of entries at those moments, in microseconds; it sorts them.
func PaceOf(at []int64) float64 {
	slices.Sort(at)
	from, to := len(at)/10, len(at)-1-len(at)/10
	if to <= from || at[to] == at[from] {
		return 0
	}
	return float64(to-from) / (time.Duration(at[to]-at[from]) * time.Microsecond).Seconds()
}
