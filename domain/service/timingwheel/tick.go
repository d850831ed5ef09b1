package timingwheel

import (
	"math"
	"time"
)

// floor is the tick that t lies in, counted from 1970. Moments before count as
// tick 0, those that nanoseconds in 64 bits cannot name as the last tick.
func (w *Wheel[T]) floor(t time.Time) int64 { return nanos(t) / int64(w.tick) }

// ceil is the first tick that does not begin before t.
func (w *Wheel[T]) ceil(t time.Time) int64 {
	ns, last := nanos(t), w.lastTick()
	tick := ns / int64(w.tick)
	if ns%int64(w.tick) != 0 && tick < last {
		tick++
	}
	return tick
}

func (w *Wheel[T]) lastTick() int64 { return math.MaxInt64 / int64(w.tick) }

func nanos(t time.Time) int64 {
	switch seconds := t.Unix(); {
	case seconds < 0:
		return 0
	case seconds >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	default:
		return t.UnixNano()
	}
}

// timeOf is the beginning of a tick.
func (w *Wheel[T]) timeOf(tick int64) time.Time {
	return time.Unix(0, tick*int64(w.tick)).UTC()
}
