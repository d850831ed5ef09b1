package timingwheel

// Entries that were in the past when they were added form a binary heap of node numbers. A
// node's slot field holds its place in the heap.

func (w *Wheel[T]) pushPast(i int32) {
	w.nodes[i].level = inPast
	w.past = append(w.past, i)
	w.raise(len(w.past) - 1)
}

func (w *Wheel[T]) removePast(at int) {
	last := len(w.past) - 1
	moved := w.past[last]
	w.past = w.past[:last]
	if at == last {
		return
	}
	w.past[at] = moved
	w.sink(at)
	w.raise(int(w.nodes[moved].slot))
}

// raise moves the node at that place up until its parent is before it.
func (w *Wheel[T]) raise(at int) {
	i := w.past[at]
	for at > 0 {
		parent := (at - 1) / 2
		if !w.before(i, w.past[parent]) {
			break
		}
		w.put(w.past[parent], at)
		at = parent
	}
	w.put(i, at)
}

// sink moves the node at that place down until both children are after it.
func (w *Wheel[T]) sink(at int) {
	i := w.past[at]
	for {
		child := 2*at + 1
		if child >= len(w.past) {
			break
		}
		if child+1 < len(w.past) && w.before(w.past[child+1], w.past[child]) {
			child++
		}
		if !w.before(w.past[child], i) {
			break
		}
		w.put(w.past[child], at)
		at = child
	}
	w.put(i, at)
}

func (w *Wheel[T]) put(i int32, at int) {
	w.past[at] = i
	w.nodes[i].slot = int32(at)
}

func (w *Wheel[T]) before(a, b int32) bool {
	x, y := &w.nodes[a], &w.nodes[b]
	if x.due != y.due {
		return x.due < y.due
	}
	return x.seq < y.seq
}
