package bench

import (
	"cmp"
	"slices"
	"time"
)

// The priorities of the contract.
const priorities = 10

// priorityOf spreads the priorities over the jobs of a stampede.
func priorityOf(job uint32) int { return 1 + int(job%priorities) }

// patience is how long a run may wait without being passed over.
const patience = 200 * time.Millisecond

// inversions adds for each node the share of starts at whose moment a run of
// higher priority, recorded for more than patience, had been taken by no node
// yet. Runs of one batch are taken together, and their order means nothing; a
// direct start never waits. What a node starts first, one batch, is left out.
func (r *Result) inversions(starts []sighting) {
	starts = slices.Clone(starts)
	slices.SortFunc(starts, func(a, b sighting) int { return cmp.Compare(a.taken(), b.taken()) })
	w := newWaiters(starts)
	counted, inverted, passed := map[uint8]int{}, map[uint8]int{}, map[uint8]int{}
	for _, s := range starts {
		if passed[s.node]++; passed[s.node] <= r.BatchSize {
			continue
		}
		counted[s.node]++
		if w.passedOver(s) {
			inverted[s.node]++
		}
	}
	if len(r.PerNode) == 0 {
		r.InvertedPercent = share(inverted[0], counted[0])
		return
	}
	all, of := 0, 0
	for i := range r.PerNode {
		n := uint8(i + 1)
		r.PerNode[i].Starts, r.PerNode[i].InvertedPercent = passed[n], share(inverted[n], counted[n])
		all, of = all+inverted[n], of+counted[n]
	}
	r.InvertedPercent = share(all, of)
}

func share(part, of int) *float64 {
	if of == 0 {
		return nil
	}
	percent := 100 * float64(part) / float64(of)
	return &percent
}

// taken is when a node took the run, recorded when its record was made, in µs
// since the epoch.
func (s sighting) taken() int64 { return s.at - int64(s.held)*1000 }

func (s sighting) recorded() int64 { return s.at - int64(s.age)*1000 }

// waiters tells who waited at a moment, by priority.
type waiters [priorities + 1]struct {
	// taken are the moments in order, and since the earliest record among those
	// that are taken then or later.
	taken, since []int64
}

// newWaiters takes starts in the order in which they were taken.
func newWaiters(starts []sighting) *waiters {
	w := &waiters{}
	for _, s := range starts {
		q := &w[priorityOf(s.job)]
		q.taken, q.since = append(q.taken, s.taken()), append(q.since, s.recorded())
	}
	for p := range w {
		since := w[p].since
		for i := len(since) - 2; i >= 0; i-- {
			since[i] = min(since[i], since[i+1])
		}
	}
	return w
}

// passedOver reports whether a run of higher priority had waited too long, and
// was not taken, when s started.
func (w *waiters) passedOver(s sighting) bool {
	for p := priorityOf(s.job) + 1; p <= priorities; p++ {
		q := &w[p]
		next, _ := slices.BinarySearch(q.taken, s.at+1)
		if next < len(q.taken) && q.since[next] < s.at-patience.Microseconds() {
			return true
		}
	}
	return false
}
