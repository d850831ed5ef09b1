package sqldb

import (
	"context"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// laneLock is a mutex whose waiters are served by lane, and within a lane in
// order of arrival. SQLite has one writer, and a fire must not wait behind a
// queue of log rows (engine rule 31). Safe for concurrent use.
type laneLock struct {
	mu      sync.Mutex
	held    bool
	waiting [repository.LaneRetention + 1][]chan struct{}
	// passed counts how often in a row a lane that waits was passed over.
	passed [repository.LaneRetention + 1]int
}

// passedLimit is how often a lane may be passed over before it goes first: a
// lane that always has a waiter would starve the others for good, and fires
// that nobody claims and completes help no one.
const passedLimit = 3

// lock waits for the lock or for the end of ctx.
func (l *laneLock) lock(ctx context.Context, lane repository.Lane) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lane = min(max(lane, 0), repository.LaneRetention)
	l.mu.Lock()
	if !l.held {
		l.held = true
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.waiting[lane] = append(l.waiting[lane], turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		l.leave(lane, turn)
		return ctx.Err()
	}
}

// leave takes a waiter out of its queue. If its turn came at the same moment,
// the turn is passed on.
func (l *laneLock) leave(lane repository.Lane, turn chan struct{}) {
	l.mu.Lock()
	for i, w := range l.waiting[lane] {
		if w == turn {
			l.waiting[lane] = append(l.waiting[lane][:i], l.waiting[lane][i+1:]...)
			l.mu.Unlock()
			return
		}
	}
	l.mu.Unlock()
	l.unlock()
}

// unlock hands the lock to the first waiter of the next lane.
func (l *laneLock) unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.next()
	if next < 0 {
		l.held = false
		return
	}
	for lane := range l.waiting {
		if lane != next && len(l.waiting[lane]) > 0 {
			l.passed[lane]++
		}
	}
	l.passed[next] = 0
	turn := l.waiting[next][0]
	l.waiting[next] = l.waiting[next][1:]
	close(turn)
}

// next is the most urgent lane that waits, or the most urgent of those that
// were passed over too often; -1 when nobody waits.
func (l *laneLock) next() int {
	urgent := -1
	for lane, queue := range l.waiting {
		if len(queue) == 0 {
			continue
		}
		if l.passed[lane] >= passedLimit {
			return lane
		}
		if urgent < 0 {
			urgent = lane
		}
	}
	return urgent
}
