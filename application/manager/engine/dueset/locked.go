package dueset

import (
	"slices"
	"strings"
	"time"
)

// A due job whose row somebody else has locked drops out of its batch alone
// (engine rule 8). It is tried again in batches of such jobs, at first without
// waiting for the lock. As who locks it again and again, such as the ends of its
// runs, would keep it out for good, one of them at a time then waits for its turn
// at the store, at most for one lock wait.
const (
	// FirstRetry and LastRetry are the shortest and the longest wait between two tries.
	FirstRetry = 20 * time.Millisecond
	LastRetry  = time.Second
	// waitAfter is how often a job is tried without waiting.
	waitAfter = 4
)

// lockWait is the wait of a due job for its job's row, by the store's time.
type lockWait struct {
	// since is the first try, next when the next one is due, lastWait when it
	// waited at the store last.
	since, next, lastWait time.Time
	tries                 int
}

// Lock puts a due job aside whose job's row is locked.
func (b *Set) Lock(h *Due, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[h.Job.ID] != h || h.state != inFire {
		return
	}
	if h.wait.tries == 0 {
		h.wait.since = now
	}
	h.wait.next = now.Add(min(FirstRetry<<min(h.wait.tries, 10), LastRetry))
	h.wait.tries++
	h.state = inLock
	b.locked[h.Job.ID] = h
	select {
	case b.lockedAdded <- struct{}{}:
	default:
	}
}

// TakeLocked hands out what is to be tried again: up to limit due jobs without
// waiting, and one that was tried so often that it is to wait for its turn, nil
// when there is none.
func (b *Set) TakeLocked(now time.Time, limit int) (dueJobs []*Due, waiter *Due) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.locked {
		if h.wait.next.After(now) {
			continue
		}
		if h.wait.tries > waitAfter && (waiter == nil || h.wait.before(waiter.wait)) {
			waiter = h
		}
		dueJobs = append(dueJobs, h)
	}
	slices.SortFunc(dueJobs, func(a, b *Due) int { return strings.Compare(a.Job.ID, b.Job.ID) })
	if waiter != nil {
		waiter.wait.lastWait = now
		dueJobs = slices.DeleteFunc(dueJobs, func(h *Due) bool { return h == waiter })
	}
	dueJobs = dueJobs[:min(limit, len(dueJobs))]
	for _, h := range append(slices.Clip(dueJobs), waiter) {
		if h != nil {
			h.state = inFire
			delete(b.locked, h.Job.ID)
		}
	}
	return dueJobs, waiter
}

// before says whose turn it is to wait: each after the others, the oldest first.
func (w lockWait) before(o lockWait) bool {
	if !w.lastWait.Equal(o.lastWait) {
		return w.lastWait.Before(o.lastWait)
	}
	return w.since.Before(o.since)
}

// NextLocked is when the next of the locked jobs is to be tried.
func (b *Set) NextLocked() (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.locked {
		if !ok || h.wait.next.Before(at) {
			at, ok = h.wait.next, true
		}
	}
	return at, ok
}

// LockedSince are the jobs that have waited for their rows since then or before,
// the oldest first.
func (b *Set) LockedSince(then time.Time) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var long []*Due
	for _, h := range b.held {
		if h.wait.tries > 0 && !h.wait.since.After(then) {
			long = append(long, h)
		}
	}
	slices.SortFunc(long, func(a, b *Due) int { return a.wait.since.Compare(b.wait.since) })
	for _, h := range long {
		ids = append(ids, h.Job.ID)
	}
	return ids
}

// LockedAdded tells of the first job that was put aside since it was read.
func (b *Set) LockedAdded() <-chan struct{} { return b.lockedAdded }
