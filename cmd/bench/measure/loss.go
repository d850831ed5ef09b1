package measure

import "time"

const (
	// LongSpan is how long a long run lasts, of which a loss may take some.
	LongSpan = 2 * time.Second
	// Late is how late a start of the backlog is after an outage.
	Late = time.Second
)

// Loss is a node that was lost.
type Loss struct {
	Victim uint8
	Owned  PartitionSet
	// At is the moment, in µs since the epoch.
	At int64
}

// Partitions counts those of the victim that have jobs.
func (o Loss) Partitions(ofJobs []int) int {
	var p PartitionSet
	for _, partition := range ofJobs {
		if o.Owned.Has(partition) {
			p.Add(partition)
		}
	}
	return p.Count()
}

// Gaps is from the loss to the first fire that another node began, of each
// partition of the victim, in ms.
func (o Loss) Gaps(entries []StartEvent, ofJobs []int) []float64 {
	first := map[int]int64{}
	for _, s := range entries {
		partition := ofJobs[s.Job]
		if s.Node == o.Victim || s.Attempt > 1 || s.At <= o.At || !o.Owned.Has(partition) {
			continue
		}
		if at, ok := first[partition]; !ok || s.At < at {
			first[partition] = s.At
		}
	}
	return msAfter(o.At, first)
}

// sure is how much longer than its entry a long run surely lasts.
const sure = LongSpan - 100*time.Millisecond

// Held are the runs that were surely at work on the victim.
func (o Loss) Held(entries []StartEvent) map[Fire]uint8 {
	held := map[Fire]uint8{}
	for _, s := range entries {
		if s.Node == o.Victim && s.Long && s.At <= o.At && s.At > o.At-sure.Microseconds() {
			held[Fire{Job: s.Job, ScheduledTime: s.ScheduledTime}] = s.Attempt
		}
	}
	return held
}

// RetryDelays is from the loss to the next attempt of each run that was at work, in ms.
func (o Loss) RetryDelays(entries []StartEvent) []float64 {
	held, first := o.Held(entries), map[Fire]int64{}
	for _, s := range entries {
		f := Fire{Job: s.Job, ScheduledTime: s.ScheduledTime}
		if was, ok := held[f]; !ok || s.Attempt <= was {
			continue
		}
		if at, ok := first[f]; !ok || s.At < at {
			first[f] = s.At
		}
	}
	return msAfter(o.At, first)
}

// msAfter is how long after a moment each of others was, in ms.
func msAfter[K comparable](from int64, others map[K]int64) []float64 {
	var ms []float64
	for _, at := range others {
		ms = append(ms, float64(at-from)/1000)
	}
	return ms
}

// Outage is when the store was away, in µs since the epoch.
type Outage struct{ Gone, Back int64 }

// Recovery is from the return of the store to the first entry and to the last
// late one, in ms; 0 if none was late.
func (o Outage) Recovery(entries []StartEvent) (firstMs, backlogMs float64) {
	first, last := int64(0), o.Back
	for _, s := range entries {
		if s.At <= o.Back || s.Attempt > 1 {
			continue
		}
		if first == 0 || s.At < first {
			first = s.At
		}
		if s.At-s.ScheduledTime*1000 > Late.Microseconds() {
			last = max(last, s.At)
		}
	}
	return float64(max(first-o.Back, 0)) / 1000, float64(last-o.Back) / 1000
}
