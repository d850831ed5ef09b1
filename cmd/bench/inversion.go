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

// inversions adds for each node the share of starts that came before one of a
// run of higher priority which had waited, as a record, for more than patience.
// What a node starts first, one batch, is left out: nothing had waited then.
func (r *Result) inversions(starts []sighting) {
	starts = slices.Clone(starts)
	slices.SortFunc(starts, func(a, b sighting) int { return cmp.Compare(a.at, b.at) })
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

// waiters tells who waited at a moment, by priority.
type waiters [priorities + 1]struct {
	// at are the starts in order, and since the earliest record among those
	// that start then or later.
	at, since []int64
}

// newWaiters takes starts in their order.
func newWaiters(starts []sighting) *waiters {
	w := &waiters{}
	for _, s := range starts {
		q := &w[priorityOf(s.job)]
		q.at, q.since = append(q.at, s.at), append(q.since, s.at-int64(s.waited)*1000)
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
// had not started, when s did.
func (w *waiters) passedOver(s sighting) bool {
	for p := priorityOf(s.job) + 1; p <= priorities; p++ {
		q := &w[p]
		next, _ := slices.BinarySearch(q.at, s.at+1)
		if next < len(q.at) && q.since[next] < s.at-patience.Microseconds() {
			return true
		}
	}
	return false
}
