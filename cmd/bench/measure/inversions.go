package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The priorities of the contract.
const priorities = 10

// PriorityOf spreads the priorities over the jobs of a stampede.
func PriorityOf(job uint32) int { return 1 + int(job%priorities) }

// waitAtMost is how long a run may wait without being passed over.
const waitAtMost = 200 * time.Millisecond

// Inversions are starts at whose moment a run of higher priority had waited for
// more than waitAtMost, and had been taken by no node yet. Runs of one batch are
// taken together, and their order means nothing; a direct start never waits.
type Inversions struct {
	// Percent counts a run as waiting since its record was made. That is before its transaction
	// was committed, so the figure is too high where commits are slow.
	Percent float64 `json:"percent"`
	// SurePercent counts it since another run of the transaction had started: it
	// misses what none of a transaction's runs did before.
	SurePercent float64 `json:"surePercent"`
	// DuePercent counts it since it was due, also while nobody had recorded it. Fires are recorded
	// in the order in which they are due, whatever their priority.
	DuePercent float64 `json:"duePercent"`
	Starts     int     `json:"starts"`
	// Waited are starts of runs that were taken later than waitAtMost after they
	// were recorded: without any, nobody could be passed over.
	Waited int `json:"waited"`

	inverted, sure, due int
}

// String prints them for people.
func (i *Inversions) String() string {
	return fmt.Sprintf("%.2f %% of %d by record, %.2f %% surely, %.2f %% by due time; %d of them had waited",
		i.Percent, i.Starts, i.SurePercent, i.DuePercent, i.Waited)
}

func (i *Inversions) add(o *Inversions) {
	i.Starts, i.Waited = i.Starts+o.Starts, i.Waited+o.Waited
	i.inverted, i.sure, i.due = i.inverted+o.inverted, i.sure+o.sure, i.due+o.due
}

func (i *Inversions) finish() {
	percent := func(part int) float64 { return 100 * float64(part) / float64(i.Starts) }
	i.Percent, i.SurePercent, i.DuePercent = percent(i.inverted), percent(i.sure), percent(i.due)
}

// CountInversions counts those of each node, by its number, and of all; nil
// where there are none. The first batch that a node starts is left out. seen
// are the starts of each node.
func CountInversions(starts []StartEvent,
	batch int,
) (all *Inversions, counted map[uint8]*Inversions, seen map[uint8]int) {
	starts = slices.Clone(starts)
	slices.SortFunc(starts, func(a, b StartEvent) int { return cmp.Compare(a.takenAt(), b.takenAt()) })
	committed := map[int64]int64{}
	for _, s := range starts {
		if at, ok := committed[s.recordedAt()]; !ok || s.At < at {
			committed[s.recordedAt()] = s.At
		}
	}
	recorded := newWaiters(starts, StartEvent.recordedAt)
	surely := newWaiters(starts, func(s StartEvent) int64 { return committed[s.recordedAt()] })
	due := newWaiters(starts, func(s StartEvent) int64 { return s.ScheduledTime * 1000 })
	counted, seen = map[uint8]*Inversions{}, map[uint8]int{}
	for _, s := range starts {
		if seen[s.Node]++; seen[s.Node] <= batch {
			continue
		}
		n := counted[s.Node]
		if n == nil {
			n = &Inversions{}
			counted[s.Node] = n
		}
		n.add(&Inversions{
			Starts: 1, Waited: one(s.takenAt()-s.recordedAt() > waitAtMost.Microseconds()),
			inverted: one(recorded.passedOver(s)), sure: one(surely.passedOver(s)), due: one(due.passedOver(s)),
		})
	}
	if len(counted) == 0 {
		return nil, counted, seen
	}
	all = &Inversions{}
	for _, n := range counted {
		n.finish()
		all.add(n)
	}
	all.finish()
	return all, counted, seen
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// takenAt is when a node took the run, recordedAt when its record was made, in
// µs since the epoch.
func (s StartEvent) takenAt() int64 { return (s.ScheduledTime + int64(s.Taken)) * 1000 }

func (s StartEvent) recordedAt() int64 { return (s.ScheduledTime + int64(s.Recorded)) * 1000 }

// waiters holds who waited at which time, by priority.
type waiters [priorities + 1]struct {
	// taken are the moments in order, and since the earliest begin of a wait
	// among those that are taken then or later.
	taken, since []int64
}

// newWaiters takes starts in the order in which they were taken.
func newWaiters(starts []StartEvent, begin func(s StartEvent) int64) *waiters {
	w := &waiters{}
	for _, s := range starts {
		q := &w[PriorityOf(s.Job)]
		q.taken, q.since = append(q.taken, s.takenAt()), append(q.since, begin(s))
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
func (w *waiters) passedOver(s StartEvent) bool {
	for p := PriorityOf(s.Job) + 1; p <= priorities; p++ {
		q := &w[p]
		next, _ := slices.BinarySearch(q.taken, s.At+1)
		if next < len(q.taken) && q.since[next] < s.At-waitAtMost.Microseconds() {
			return true
		}
	}
	return false
}
