package timingwheel

import "math/bits"

// link puts a node where its due tick belongs.
func (w *Wheel[T]) link(i int32) {
	n := &w.nodes[i]
	if n.due <= w.current {
		w.pushPast(i)
		return
	}
	w.place(i)
}

// place appends a node to the slot of the level at which its due tick first
// differs from the current one. A node that is due at the current tick, which
// happens only while that tick's slot is worked off, goes to level 0.
func (w *Wheel[T]) place(i int32) {
	n := &w.nodes[i]
	level := 0
	if differ := uint64(n.due ^ w.current); differ != 0 {
		level = (bits.Len64(differ) - 1) / slotBits
	}
	at := int(n.due>>(level*slotBits)) & (slots - 1)
	n.level, n.slot, n.next = int8(level), int32(at), nowhere
	s := &w.slots[level][at]
	n.prev = s.tail
	if s.tail == nowhere {
		s.head, s.earliest = i, n.due
		w.occupied[level] |= 1 << at
	} else {
		w.nodes[s.tail].next = i
		s.earliest = min(s.earliest, n.due)
	}
	s.tail = i
}

// unlink takes a node out of its list or out of the heap.
func (w *Wheel[T]) unlink(i int32) {
	n := &w.nodes[i]
	if n.level == inPast {
		w.removePast(int(n.slot))
		return
	}
	s := &w.slots[n.level][n.slot]
	if n.prev == nowhere {
		s.head = n.next
	} else {
		w.nodes[n.prev].next = n.next
	}
	if n.next == nowhere {
		s.tail = n.prev
	} else {
		w.nodes[n.next].prev = n.prev
	}
	if s.head == nowhere {
		w.occupied[n.level] &^= 1 << n.slot
	}
}

// detach empties a slot and returns the head of what was its list.
func (w *Wheel[T]) detach(level, at int) int32 {
	s := &w.slots[level][at]
	head := s.head
	s.head, s.tail = nowhere, nowhere
	w.occupied[level] &^= 1 << at
	return head
}

// take returns an unused node; released ones are used again.
func (w *Wheel[T]) take() int32 {
	if w.free == nowhere {
		w.nodes = append(w.nodes, node[T]{})
		return int32(len(w.nodes) - 1)
	}
	i := w.free
	w.free = w.nodes[i].next
	return i
}

// release forgets an entry and keeps its node for the next one.
func (w *Wheel[T]) release(i int32) {
	delete(w.keys, w.nodes[i].key)
	w.nodes[i] = node[T]{next: w.free}
	w.free = i
}
