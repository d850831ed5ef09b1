package bench

import (
	"math/bits"
	"slices"
	"sync"
	"time"
)

// ledger holds what is planned against what was seen. The plan is made here,
// from the definitions, and not read from the engine. Safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	plans []plan
	// seen holds a bit for each attempt of a fire that was entered.
	seen   map[fire]uint32
	starts []sighting
	// again counts entries of an attempt that had been entered, strange those
	// of fires that nobody had planned.
	again, strange int
}

// fire is a planned fire: a job by its number, and the nominal time in ms.
type fire struct {
	job     uint32
	nominal int64
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
func (p plan) holds(nominal int64) bool {
	if p.first == 0 || nominal < p.first {
		return false
	}
	return nominal == p.first || p.every > 0 && (nominal-p.first)%p.every == 0
}

// newLedger returns a ledger that has room for so many entries.
func newLedger(expected int) *ledger {
	return &ledger{seen: make(map[fire]uint32, expected), starts: make([]sighting, 0, expected)}
}

// plan enters a job by its number; every is 0 for one fire.
func (l *ledger) plan(job int, first time.Time, every time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if job >= len(l.plans) {
		l.plans = append(l.plans, make([]plan, job+1-len(l.plans))...)
	}
	l.plans[job] = plan{first.UnixMilli(), every.Milliseconds()}
}

func (l *ledger) planned(f fire) bool {
	return int(f.job) < len(l.plans) && l.plans[f.job].holds(f.nominal)
}

// see notes entries.
func (l *ledger) see(some ...sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range some {
		f, bit := fire{s.job, s.nominal}, uint32(1)<<min(s.attempt, 31)
		if !l.planned(f) {
			l.strange++
			continue
		}
		if l.seen[f]&bit != 0 {
			l.again++
		}
		l.seen[f] |= bit
		l.starts = append(l.starts, s)
	}
}

// tally is the outcome of a bench.
type tally struct{ planned, lost, doubled int }

// account compares the plan up to a moment with what was seen. A second attempt
// is no double: it is a run that was lost and retried.
func (l *ledger) account(until time.Time) tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := tally{doubled: l.again + l.strange}
	l.each(until, func(f fire) {
		t.planned++
		if l.seen[f] == 0 {
			t.lost++
		}
	})
	return t
}

// each walks over the plan up to a moment.
func (l *ledger) each(until time.Time, visit func(f fire)) {
	for job, p := range l.plans {
		for i := range p.due(until.UnixMilli()) {
			visit(fire{uint32(job), p.first + int64(i)*p.every})
		}
	}
}

// retried counts fires of which more than one attempt was entered.
func (l *ledger) retried() int {
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

// entries are all so far, in the order of their arrival; they are read only.
func (l *ledger) entries() []sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.starts)
}

// lateness is handler entry minus due time, of first attempts of fires due from
// a moment on.
func (l *ledger) lateness(from time.Time) *Lateness {
	var ms []float64
	for _, s := range l.entries() {
		if s.nominal >= from.UnixMilli() && s.attempt <= 1 {
			ms = append(ms, float64(s.at-s.nominal*1000)/1000)
		}
	}
	return summarize(ms)
}

// lastAfter is the latest entry, in ms after t.
func (l *ledger) lastAfter(t time.Time) float64 {
	last := t.UnixMicro()
	for _, s := range l.entries() {
		last = max(last, s.at)
	}
	return float64(last-t.UnixMicro()) / 1000
}

func summarize(ms []float64) *Lateness {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	return &Lateness{P50: percentile(ms, 50), P99: percentile(ms, 99), Max: ms[len(ms)-1]}
}

// percentile is the nearest-rank percentile of sorted values.
func percentile(sorted []float64, p int) float64 {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}
