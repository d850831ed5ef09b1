package dueset

import "slices"

// priorities bounds the priorities of jobs, which are 1 to 10.
const priorities = 10

// heavyFire is from how many executions of one fire on a job is heavy: those of the
// same priority that are not go first, so that a few jobs of many shards hold up
// none of the many that have one.
const heavyFire = 16

// queue holds due jobs that have come due: by priority, 10 first, and within one
// in the order in which they came. So a batch that is smaller than what is due
// takes what is most urgent, like claims do (engine rule 15).
type queue struct {
	lanes [priorities + 1]class
	size  int
}

// class is the due jobs of one priority.
type class struct {
	light, heavy []*Due
	// passed counts the light ones that went before a heavy one.
	passed int
}

// of is the list that a due job belongs to.
func (q *queue) of(h *Due) *[]*Due {
	l := &q.lanes[max(0, min(h.Job.Priority, priorities))]
	if h.Job.ExecutionsPerFire() > heavyFire {
		return &l.heavy
	}
	return &l.light
}

func (q *queue) add(h *Due) {
	list := q.of(h)
	*list = append(*list, h)
	q.size++
}

// putBack puts due jobs before all others of their priority and kind.
func (q *queue) putBack(dueJobs []*Due) {
	first := map[*[]*Due][]*Due{}
	for _, h := range dueJobs {
		list := q.of(h)
		first[list] = append(first[list], h)
	}
	for list, dueJobs := range first {
		*list = append(dueJobs, *list...)
	}
	q.size += len(dueJobs)
}

// take appends up to n due jobs to out. Where the light ones alone would fill it, one
// heavy job goes with each batch, or after each eighth of small ones, so that none
// waits for good.
func (q *queue) take(out []*Due, n int) []*Due {
	for p := priorities; p >= 0 && n > 0; p-- {
		l := &q.lanes[p]
		before := len(out)
		first := n
		if len(l.heavy) > 0 && len(l.light) >= n {
			if l.passed += n; l.passed >= LateShare {
				first, l.passed = n-1, 0
			}
		}
		out = takeFirst(&l.light, out, first)
		out = takeFirst(&l.heavy, out, n-(len(out)-before))
		n -= len(out) - before
		q.size -= len(out) - before
	}
	return out
}

// takeFirst moves up to n due jobs from a list to out; an emptied list keeps its
// memory.
func takeFirst(list *[]*Due, out []*Due, n int) []*Due {
	k := min(n, len(*list))
	out = append(out, (*list)[:k]...)
	clear((*list)[:k])
	if k == len(*list) {
		*list = (*list)[:0]
	} else {
		*list = (*list)[k:]
	}
	return out
}

// drop removes the due jobs that gone says are to go.
func (q *queue) drop(gone func(h *Due) bool) {
	for p := range q.lanes {
		for _, list := range []*[]*Due{&q.lanes[p].light, &q.lanes[p].heavy} {
			before := len(*list)
			*list = slices.DeleteFunc(*list, gone)
			q.size -= before - len(*list)
		}
	}
}
