package firing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// A due job whose row somebody else has locked drops out of its batch alone
// (engine rule 8). It is tried again in batches of such jobs, at first without
// waiting for the lock. As who locks it again and again, such as the ends of its
// runs, would keep it out for good, one of them at a time then waits for its turn
// at the store, at most for one lock wait.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
	// waitAfter is how often a job is tried without waiting.
	waitAfter = 4
	// lockedLong is from when on people are told, and how often.
	lockedLong = 10 * time.Second
	// lockedNamed bounds the jobs that are named to people.
	lockedNamed = 10
)

// lockWait is the wait of a due job for its job's row, by the store's time.
type lockWait struct {
	// since is the first try, next when the next one is due, patient when it
	// waited at the store last.
	since, next, lastWait time.Time
	tries                 int
}

// lock puts a due job aside whose job's row is locked.
func (b *dueSet) lock(h *dueJob, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[h.job.ID] != h || h.state != inFire {
		return
	}
	if h.wait.tries == 0 {
		h.wait.since = now
	}
	h.wait.next = now.Add(min(firstRetry<<min(h.wait.tries, 10), lastRetry))
	h.wait.tries++
	h.state = inLock
	b.locked[h.job.ID] = h
	select {
	case b.lockedAdded <- struct{}{}:
	default:
	}
}

// takeLocked hands out what is to be tried again: up to limit due jobs without
// waiting, and one that was tried so often that it is to wait for its turn, nil
// when there is none.
func (b *dueSet) takeLocked(now time.Time, limit int) (dueJobs []*dueJob, waiter *dueJob) {
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
	slices.SortFunc(dueJobs, func(a, b *dueJob) int { return strings.Compare(a.job.ID, b.job.ID) })
	if waiter != nil {
		waiter.wait.lastWait = now
		dueJobs = slices.DeleteFunc(dueJobs, func(h *dueJob) bool { return h == waiter })
	}
	dueJobs = dueJobs[:min(limit, len(dueJobs))]
	for _, h := range append(slices.Clip(dueJobs), waiter) {
		if h != nil {
			h.state = inFire
			delete(b.locked, h.job.ID)
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

// nextLocked is when the next of the locked jobs is to be tried.
func (b *dueSet) nextLocked() (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.locked {
		if !ok || h.wait.next.Before(at) {
			at, ok = h.wait.next, true
		}
	}
	return at, ok
}

// lockedSince are the jobs that have waited for their rows since then or before,
// the oldest first.
func (b *dueSet) lockedSince(then time.Time) (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var long []*dueJob
	for _, h := range b.held {
		if h.wait.tries > 0 && !h.wait.since.After(then) {
			long = append(long, h)
		}
	}
	slices.SortFunc(long, func(a, b *dueJob) int { return a.wait.since.Compare(b.wait.since) })
	for _, h := range long {
		ids = append(ids, h.job.ID)
	}
	return ids
}

// workLocked tries what is locked until ctx ends, beside the workers: none of
// them waits for a lock.
func (m *JobManager) workLocked(ctx context.Context) {
	timer := m.Clock.NewTimer(time.Hour)
	defer timer.Stop()
	var warned time.Time
	for ctx.Err() == nil {
		jobs, err := m.FireLocked(ctx)
		warned = m.warnLocked(warned)
		switch {
		case err != nil:
			m.Logger.Error("jobs whose rows were locked could not be fired; they stay due", "error", err, "jobs", jobs)
			m.awaitLocked(ctx, timer, lastRetry)
		case jobs == 0:
			m.awaitLocked(ctx, timer, firstRetry)
		}
	}
}

// awaitLocked sleeps until the next try, at least for a while, or until there is
// something to try.
func (m *JobManager) awaitLocked(ctx context.Context, timer clock.Timer, atLeast time.Duration) {
	at, ok := m.dueSet.nextLocked()
	news := m.dueSet.lockedAdded
	wait := time.Hour
	if ok {
		news, wait = nil, min(max(at.Sub(m.StoreClock.Now()), atLeast), lastRetry)
	}
	timer.Reset(wait)
	select {
	case <-ctx.Done():
	case <-news:
	case <-timer.C():
	}
}

// FireLocked tries again to fire jobs whose rows somebody else had locked; it
// returns how many.
func (m *JobManager) FireLocked(ctx context.Context) (jobs int, err error) {
	if !m.hasLease() {
		return 0, nil
	}
	groups, err := m.pausedGroups(ctx)
	if err != nil {
		return 0, err
	}
	dueJobs, waiter := m.dueSet.takeLocked(m.StoreClock.Now(), m.cfg.BatchSize)
	if len(dueJobs) > 0 {
		jobs, err = len(dueJobs), m.fire(ctx, dueJobs, groups, false)
	}
	if waiter != nil {
		jobs, err = jobs+1, errors.Join(err, m.fire(ctx, []*dueJob{waiter}, groups, true))
	}
	return jobs, err
}

// warnLocked warns of jobs that have waited long; told is when it did last.
func (m *JobManager) warnLocked(warned time.Time) time.Time {
	now := m.StoreClock.Now()
	if now.Sub(warned) < lockedLong {
		return warned
	}
	ids := m.dueSet.lockedSince(now.Add(-lockedLong))
	if len(ids) == 0 {
		return warned
	}
	m.Logger.Warn("due jobs do not fire, because somebody else has locked their rows in the store: look for open transactions there",
		"count", len(ids), "jobs", ids[:min(len(ids), lockedNamed)])
	return now
}

// Locked is how many due jobs wait because somebody else has locked their rows.
func (m *JobManager) Locked() int { return len(m.dueSet.lockedSince(m.StoreClock.Now())) }

// LockedLong names up to ten of the jobs that have waited so for ten seconds,
// those first that wait longest, and says how many there are.
func (m *JobManager) LockedLong() (ids []string, count int) {
	ids = m.dueSet.lockedSince(m.StoreClock.Now().Add(-lockedLong))
	return ids[:min(len(ids), lockedNamed)], len(ids)
}
