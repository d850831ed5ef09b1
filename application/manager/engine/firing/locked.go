package firing

import (
	"context"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dueset"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const (
	// lockedLong is from when on the log warns, and how often.
	lockedLong = 10 * time.Second
	// lockedNamed bounds the jobs that are named to people.
	lockedNamed = 10
)

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
			m.awaitLocked(ctx, timer, dueset.LastRetry)
		case jobs == 0:
			m.awaitLocked(ctx, timer, dueset.FirstRetry)
		}
	}
}

// awaitLocked sleeps until the next try, at least for a while, or until there is
// something to try.
func (m *JobManager) awaitLocked(ctx context.Context, timer clock.Timer, atLeast time.Duration) {
	at, ok := m.dueSet.NextLocked()
	news := m.dueSet.LockedAdded()
	wait := time.Hour
	if ok {
		news, wait = nil, min(max(at.Sub(m.StoreClock.Now()), atLeast), dueset.LastRetry)
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
	dueJobs, waiter := m.dueSet.TakeLocked(m.StoreClock.Now(), m.cfg.BatchSize)
	if len(dueJobs) > 0 {
		jobs, err = len(dueJobs), m.fire(ctx, dueJobs, groups, false)
	}
	if waiter != nil {
		jobs, err = jobs+1, errors.Join(err, m.fire(ctx, []*dueset.Due{waiter}, groups, true))
	}
	return jobs, err
}

// warnLocked warns of jobs that have waited long; warned is when it did last.
func (m *JobManager) warnLocked(warned time.Time) time.Time {
	now := m.StoreClock.Now()
	if now.Sub(warned) < lockedLong {
		return warned
	}
	ids := m.dueSet.LockedSince(now.Add(-lockedLong))
	if len(ids) == 0 {
		return warned
	}
	m.Logger.Warn("due jobs do not fire, because somebody else has locked their rows in the store: look for open "+
		"transactions there",
		"count", len(ids), "jobs", ids[:min(len(ids), lockedNamed)])
	return now
}

// Locked is how many due jobs wait because somebody else has locked their rows.
func (m *JobManager) Locked() int { return len(m.dueSet.LockedSince(m.StoreClock.Now())) }

// LockedLong names up to ten of the jobs that have waited so for ten seconds,
// those first that wait longest, and says how many there are.
func (m *JobManager) LockedLong() (ids []string, count int) {
	ids = m.dueSet.LockedSince(m.StoreClock.Now().Add(-lockedLong))
	return ids[:min(len(ids), lockedNamed)], len(ids)
}
