// Package collector sets how far the heap of a server grows before Go's garbage collector runs: far while there is much
// to do, and little while there is not.
package collector

import (
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// most is how many percent of what is alive the heap grows by while collections follow each other closely: at
	// 20,000 runs a second the collector took a seventh of the CPU at Go's own 100.
	most = 200
	// least is the same for a server that allocates little. Thousands of parked calls then cost what they hold, and not
	// three times that.
	least = 40
	// gap is how far apart collections are to be, as far as least and most allow.
	gap = 2 * time.Second
)

// pace is how far the heap grows, by how long the last collection was ago.
type pace struct {
	percent int
	at      time.Duration
}

// next is the pace after a collection that ended at that moment. The time between two is about proportional to the
// percentage.
func (p pace) next(now time.Duration) pace {
	since := max(now-p.at, time.Millisecond)
	return pace{int(min(max(time.Duration(p.percent)*gap/since, least), most)), now}
}

// mark dies in each collection, which is how the end of one is noticed.
type mark struct {
	pace      pace
	monotonic func() time.Duration
}

// Follow adapts the collector for the rest of the process. monotonic is a clock that nobody sets. It costs one call
// after each collection, in the goroutine that Go has for finalizers.
func Follow(monotonic func() time.Duration) {
	m := &mark{pace{most, monotonic()}, monotonic}
	debug.SetGCPercent(m.pace.percent)
	runtime.SetFinalizer(m, (*mark).collected)
}

func (m *mark) collected() {
	before := m.pace.percent
	if m.pace = m.pace.next(m.monotonic()); m.pace.percent != before {
		debug.SetGCPercent(m.pace.percent)
	}
	runtime.SetFinalizer(m, (*mark).collected)
}
