package attempts

import (
	"slices"
	"time"
)

// memory is for how many leases an ended attempt is remembered, so that it is not begun again.
const memory = 2

// maxCalls bounds the remembered calls. The moment of a forgotten one renews nothing.
const maxCalls = 1024

// maxGap is the largest difference between wall clock and monotonic clock that is no sleep.
const maxGap = 2 * time.Second

// Life is what a worker holds under one epoch. When it is over, the worker stops its handlers, draws a new
// boot id and registers anew. The new life sends nothing that the old one held, not even its ends. It is not
// safe for concurrent use. Its slices are never changed in place, so a copy is independent.
type Life struct {
	epoch    int64
	slots    Slots
	seq, ack int64
	// calls are the polls whose beat may still be stored, oldest first.
	calls []call
	until Instant
	// lease is the longest one that the worker was told of; the store keeps at least that.
	lease time.Duration
	over  bool
	// asleep is the newest poll that was sent before the machine slept; its answer begins nothing.
	asleep   int64
	stopping bool
	holds    []hold
	// Ended are the attempts whose ends have a receipt, in the order of the receipts.
	Ended []Memory
	// index finds them, in a life that is never copied.
	index map[Attempt]bool
}

type call struct {
	seq int64
	at  Instant
}

// hold is an attempt that takes a slot: until its end has a receipt.
type hold struct {
	Run
	status string // empty while the handler runs
}

// Memory is an attempt that must not begin again, and until when that is remembered.
type Memory struct {
	Attempt
	Until Instant
}

// Begin makes a life of the answer to a registration that was sent at that moment.
func Begin(e Entry, sent Instant) Life {
	return Life{
		epoch: e.Epoch, slots: e.Slots, calls: []call{{at: sent}},
		lease: e.Lease, until: sent + Instant(e.Lease),
	}
}

// Poll makes the next poll, which is sent now. Answers to former ones deliver nothing from here on.
func (l *Life) Poll(now Instant) Poll {
	l.seq++
	l.calls = append(slices.Clip(l.calls), call{l.seq, now})
	if len(l.calls) > maxCalls {
		l.calls = l.calls[1:]
	}
	p := Poll{Epoch: l.epoch, Seq: l.seq, Ack: l.ack, Stopping: l.stopping}
	if !l.stopping {
		p.Free = l.free()
	}
	for _, h := range l.holds {
		p.Running = append(p.Running, h.Attempt)
	}
	return p
}

func (l *Life) free() Slots {
	free := l.slots
	for _, h := range l.holds {
		free[h.Kind]--
	}
	for k := range free {
		free[k] = max(free[k], 0)
	}
	return free
}

// Answer takes an answer that came now. Each one may renew the lease. Runs and stops count only from the
// answer to the newest poll, once, and while the lease holds. A run that it cannot begin is returned: no
// slot is free, the worker stops, or the machine slept since the poll.
func (l *Life) Answer(a Answer, now Instant) (w Work) {
	if l.over {
		return w
	}
	l.renew(a)
	if l.Over(now) || a.Seq != l.seq || a.Seq <= l.ack {
		return w
	}
	l.ack = a.Seq
	l.forget(now)
	for _, r := range a.Runs {
		if l.knows(r.Attempt) {
			continue
		}
		h := hold{Run: r}
		if l.stopping || l.free()[r.Kind] == 0 || a.Seq <= l.asleep {
			h.status = Returned
		} else {
			w.Begin = append(w.Begin, r)
		}
		l.holds = append(slices.Clip(l.holds), h)
	}
	for _, stop := range a.Cancel {
		if l.find(stop.Attempt) >= 0 {
			w.Stop = append(w.Stop, stop)
		}
	}
	return w
}

// renew moves the end of the lease to the moment at which the stored call was *sent*, plus the lease. The
// store counts from a later moment, so the worker stops first. No answer brings the end forward: the store
// keeps the latest end, too.
func (l *Life) renew(a Answer) {
	seq := a.LeaseSeq
	l.lease = max(l.lease, a.Lease)
	if a.Hold {
		seq, a.Lease = a.Seq, l.lease
	}
	i := slices.IndexFunc(l.calls, func(c call) bool { return c.seq == seq })
	if i < 0 {
		return
	}
	l.until = max(l.until, l.calls[i].at+Instant(a.Lease))
	if !a.Hold {
		l.calls = l.calls[i:]
	}
}

// Over reports whether the lease is over; it stays so. The worker then tells all handlers that they are
// lost, sends nothing more of this life and registers anew.
func (l *Life) Over(now Instant) bool {
	l.over = l.over || now >= l.until
	return l.over
}

// Until is when the lease ends. The worker wakes up then and asks Over.
func (l *Life) Until() Instant { return l.until }

// Lost ends the life, for a gateway that answers that the epoch is not the worker's any more.
func (l *Life) Lost() { l.over = true }

// Asleep is for how long the machine slept between two readings of both clocks, where the monotonic one
// does not count it. Small differences are none: wall clocks are set.
func Asleep(wall, monotonic time.Duration) time.Duration {
	if gap := wall - monotonic; gap > maxGap {
		return gap
	}
	return 0
}

// Slept tells the life that the machine slept for so long without its clock. The lease went on, so its end
// comes nearer by as much. The worker calls at once, and begins nothing before the answer to that call.
func (l *Life) Slept(gap time.Duration) {
	l.calls = slices.Clone(l.calls)
	for i := range l.calls {
		l.calls[i].at -= Instant(gap)
	}
	l.until -= Instant(gap)
	l.asleep = l.seq
}
