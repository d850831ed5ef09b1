package running

import "sync"

// inFlight counts the attempts whose end is not stored yet, and the ends that
// are on their way. Safe for concurrent use.
type inFlight struct {
	mu     sync.Mutex
	n      int
	closed bool
	// none is closed while nothing is in flight.
	none chan struct{}
}

func newInFlight() *inFlight {
	f := &inFlight{none: make(chan struct{})}
	close(f.none)
	return f
}

// enter adds n; false when nothing may enter any more.
func (f *inFlight) enter(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if f.n == 0 && n > 0 {
		f.none = make(chan struct{})
	}
	f.n += n
	return true
}

// leave takes one away.
func (f *inFlight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 {
		close(f.none)
	}
}

// idle is closed when nothing is in flight. Something may enter right after.
func (f *inFlight) idle() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.none
}

// close waits until nothing is in flight, and lets nothing enter from then on.
func (f *inFlight) close() {
	for {
		<-f.idle()
		f.mu.Lock()
		f.closed = f.n == 0
		closed := f.closed
		f.mu.Unlock()
		if closed {
			return
		}
	}
}
