package persistence

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
}

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

// unlock hands the lock to the first waiter of the most urgent lane.
func (l *laneLock) unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.waiting {
		if queue := l.waiting[lane]; len(queue) > 0 {
			l.waiting[lane] = queue[1:]
			close(queue[0])
			return
		}
	}
	l.held = false
}
