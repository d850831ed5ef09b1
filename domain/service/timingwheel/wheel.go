// Package timingwheel holds what is due soon, so that its owner can sleep
// until the next entry instead of asking the store. Entries are hints: the
// wheel decides nothing, and losing one costs a scan, not a fire (engine
// rule 12).
package timingwheel

import (
	"math/bits"
	"time"
)

const (
	slotBits = 6
	slots    = 1 << slotBits
	// levels is enough for every tick that an int64 of nanoseconds can name,
	// so no due time is outside the wheel.
	levels = 11
	// nowhere ends a list of nodes.
	nowhere = -1
)

// DefaultTick is the granularity that New takes for a tick that is not positive.
const DefaultTick = time.Millisecond

// Wheel is a hierarchical timing wheel. A slot of level n spans 64^n ticks. Entries move
// to a finer level when time reaches their slot, at most once a level. Empty stretches of
// time cost nothing.
//
// Adding, removing and expiring are O(1) amortised, except for entries that are in the
// past when they are added. Late reminders go through a heap: the wall clock may have gone back,
// and they must wait for it.
//
// A Wheel is not safe for concurrent use; one goroutine owns it.
type Wheel[T any] struct {
	tick    time.Duration
	current int64 // the tick up to which the slots are worked off
	seq     uint64

	nodes []node[T]
	free  int32
	keys  map[string]int32
	past  []int32 // a heap by due tick, then order of adding

	occupied [levels]uint64
	slots    [levels][slots]slot
}

type node[T any] struct {
	key   string
	value T
	due   int64
	seq   uint64 // order of adding among entries of one tick, for the heap
	next  int32
	prev  int32
	// level is the list's level, or inPast with slot holding the heap position.
	level int8
	slot  int32
}

// slot is a list of nodes in the order of adding. earliest is a lower bound of their due
// ticks; it is exact unless the earliest entry was removed.
type slot struct {
	head, tail int32
	earliest   int64
}

const inPast = -1

// New returns an empty wheel that stands at start.
func New[T any](tick time.Duration, start time.Time) *Wheel[T] {
	if tick <= 0 {
		tick = DefaultTick
	}
	w := &Wheel[T]{tick: tick}
	w.current = w.floor(start)
	w.Clear()
	return w
}

// Len is the number of entries.
func (w *Wheel[T]) Len() int { return len(w.keys) }

// Clear removes all entries and keeps the time.
func (w *Wheel[T]) Clear() {
	w.keys = make(map[string]int32)
	w.nodes, w.free = nil, nowhere
	w.past = nil
	w.occupied = [levels]uint64{}
	for l := range w.slots {
		for s := range w.slots[l] {
			w.slots[l][s] = slot{head: nowhere, tail: nowhere}
		}
	}
}

// Add puts an entry under a key, replacing the one that is there. An entry
// whose due time has passed is returned by the next Expire.
func (w *Wheel[T]) Add(key string, due time.Time, value T) {
	i, exists := w.keys[key]
	if exists {
		w.unlink(i)
	} else {
		i = w.take()
		w.keys[key] = i
	}
	w.seq++
	n := &w.nodes[i]
	n.key, n.value, n.due, n.seq = key, value, w.ceil(due), w.seq
	w.link(i)
}

// Remove drops the entry of a key and reports whether there was one.
func (w *Wheel[T]) Remove(key string) bool {
	i, exists := w.keys[key]
	if !exists {
		return false
	}
	w.unlink(i)
	w.release(i)
	return true
}

// Expire removes the entries that are due at now and appends their values to into. The
// earliest tick comes first; within a tick the order is that of adding. It is never early,
// and late by less than a tick. A now before the last one is no error: only what is due by
// that earlier time is returned.
func (w *Wheel[T]) Expire(now time.Time, into []T) []T {
	until := w.floor(now)
	for len(w.past) > 0 && w.nodes[w.past[0]].due <= until {
		i := w.past[0]
		into = append(into, w.nodes[i].value)
		w.unlink(i)
		w.release(i)
	}
	for {
		level, at, start, ok := w.earliestSlot()
		if !ok || start > until {
			break
		}
		w.current = max(w.current, start)
		if level == 0 {
			into = w.drain(at, into)
		} else {
			w.cascade(level, at)
		}
	}
	w.current = max(w.current, until)
	return into
}

// NextExpiry is the moment at which Expire will next have something to do;
// false when the wheel is empty. It may lie in the past. After a removal it
// may be earlier than the first entry; the owner then wakes up once in vain.
func (w *Wheel[T]) NextExpiry() (time.Time, bool) {
	var earliest int64
	if len(w.past) > 0 {
		earliest = w.nodes[w.past[0]].due
	} else if level, at, _, ok := w.earliestSlot(); ok {
		earliest = w.slots[level][at].earliest
	} else {
		return time.Time{}, false
	}
	return w.timeOf(earliest), true
}

// earliestSlot finds the occupied slot whose time comes first. Entries of a
// lower level all lie before those of a higher one: they share the current
// slot of every level above their own.
func (w *Wheel[T]) earliestSlot() (level int, at int, start int64, ok bool) {
	for l := range levels {
		if w.occupied[l] == 0 {
			continue
		}
		s := bits.TrailingZeros64(w.occupied[l])
		shift := l * slotBits
		block := w.current >> shift >> slotBits << slotBits << shift
		return l, s, block | int64(s)<<shift, true
	}
	return 0, 0, 0, false
}

// drain takes the entries of a slot of one tick out of the wheel.
func (w *Wheel[T]) drain(at int, into []T) []T {
	for i := w.detach(0, at); i != nowhere; {
		next := w.nodes[i].next
		into = append(into, w.nodes[i].value)
		w.release(i)
		i = next
	}
	return into
}

// cascade spreads the entries of a slot over the finer levels below it.
func (w *Wheel[T]) cascade(level, at int) {
	for i := w.detach(level, at); i != nowhere; {
		next := w.nodes[i].next
		w.place(i)
		i = next
	}
}
