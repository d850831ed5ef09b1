package firing

import "slices"

// priorities bounds the priorities of jobs, which are 1 to 10.
const priorities = 10

// queue holds hints that have come due: by priority, 10 first, and within one
// in the order in which they came. So a batch that is smaller than what is due
// takes what is most urgent, like claims do (engine rule 15).
type queue struct {
	lanes [priorities + 1][]*hint
	size  int
}

func (q *queue) add(h *hint) {
	p := max(0, min(h.job.Priority, priorities))
	q.lanes[p] = append(q.lanes[p], h)
	q.size++
}

// take appends up to n hints to out; an emptied lane keeps its memory.
func (q *queue) take(out []*hint, n int) []*hint {
	for p := priorities; p >= 0 && n > 0; p-- {
		lane := q.lanes[p]
		k := min(n, len(lane))
		out = append(out, lane[:k]...)
		clear(lane[:k])
		if q.lanes[p] = lane[k:]; k == len(lane) {
			q.lanes[p] = lane[:0]
		}
		n -= k
		q.size -= k
	}
	return out
}

// drop removes the hints that gone says are to go.
func (q *queue) drop(gone func(h *hint) bool) {
	for p := range q.lanes {
		before := len(q.lanes[p])
		q.lanes[p] = slices.DeleteFunc(q.lanes[p], gone)
		q.size -= before - len(q.lanes[p])
	}
}
