package hosts

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// permits bounds the calls of each host. A permit that comes free goes to the call
// that is due first among those that wait. Safe for concurrent use.
type permits struct {
	perHost int

	mu    sync.Mutex
	known map[string]*host
}

// host is one origin while this node calls it; permits.mu guards it.
type host struct {
	name string
	// busy counts the calls in progress.
	busy int
	line line
	// crowd counts those in the line that keep a slot of the node meanwhile.
	crowd int
	// came numbers those that have waited.
	came int
}

// waiter stands in the line of its host until ready is closed: then it has a permit.
type waiter struct {
	due    time.Time
	number int
	ready  chan struct{}
	// index is its place in the heap; -1 once it has left the line.
	index int
}

func newPermits(perHost int) *permits {
	return &permits{perHost: perHost, known: map[string]*host{}}
}

// visit is one call's permit.
type visit struct {
	permits *permits
	host    *host
}

// enter waits for a permit of a host, before all others that wait. A visit that the
// attempt has reserved is taken instead. The caller leaves when its call has ended.
func (h *permits) enter(ctx context.Context, name string) (*visit, error) {
	if v := h.take(ctx, name); v != nil {
		return v, nil
	}
	v, w := h.begin(name, time.Time{})
	if w == nil {
		return v, nil
	}
	select {
	case <-w.ready:
		return v, nil
	case <-ctx.Done():
		v.withdraw(w)
		return nil, fmt.Errorf("wait for one of %d permits of this host: %w", h.perHost, ctx.Err())
	}
}

// try gives a permit if one is free.
func (h *permits) try(name string) *visit {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.host(name)
	if !called.free(h.perHost) {
		return nil
	}
	called.busy++
	return &visit{h, called}
}

// begin gives a permit, or a place in the line of the host.
func (h *permits) begin(name string, due time.Time) (*visit, *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.host(name)
	v := &visit{h, called}
	if called.free(h.perHost) {
		called.busy++
		return v, nil
	}
	called.came++
	w := &waiter{due: due, number: called.came, ready: make(chan struct{})}
	heap.Push(&called.line, w)
	return v, w
}

// host is known while somebody calls it or waits; the caller holds the lock.
func (h *permits) host(name string) *host {
	called := h.known[name]
	if called == nil {
		called = &host{name: name}
		h.known[name] = called
	}
	return called
}

func (c *host) free(perHost int) bool { return perHost <= 0 || c.busy < perHost }

// leave hands the permit on.
func (v *visit) leave() {
	v.permits.mu.Lock()
	defer v.permits.mu.Unlock()
	v.host.busy--
	if len(v.host.line) > 0 {
		v.host.busy++
		close(heap.Pop(&v.host.line).(*waiter).ready)
	}
	v.forget()
}

// withdraw leaves the line, and gives the permit back that came meanwhile.
func (v *visit) withdraw(w *waiter) {
	v.permits.mu.Lock()
	waits := w.index >= 0
	if waits {
		heap.Remove(&v.host.line, w.index)
		v.forget()
	}
	v.permits.mu.Unlock()
	if !waits {
		v.leave()
	}
}

// forget drops a host that nobody calls; the caller holds the lock.
func (v *visit) forget() {
	if v.host.busy == 0 && len(v.host.line) == 0 && v.host.crowd == 0 {
		delete(v.permits.known, v.host.name)
	}
}

// line is a heap of those that wait: who is due first comes first.
type line []*waiter

// Len implements heap.Interface.
func (l line) Len() int { return len(l) }

// Less implements heap.Interface.
func (l line) Less(i, j int) bool {
	if !l[i].due.Equal(l[j].due) {
		return l[i].due.Before(l[j].due)
	}
	return l[i].number < l[j].number
}

// Swap implements heap.Interface.
func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}

// Push implements heap.Interface.
func (l *line) Push(w any) {
	w.(*waiter).index = len(*l)
	*l = append(*l, w.(*waiter))
}

// Pop implements heap.Interface.
func (l *line) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	w.index = -1
	return w
}
