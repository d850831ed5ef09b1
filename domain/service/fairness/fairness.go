// Package fairness orders the waiting runs of one priority, so that a job with many
// runs does not starve the others (engine rule 15).
package fairness

import (
	"sync"
	"time"
)

const (
	// DefaultQuantum is the distance between two waiting runs of one job. At 100 ms a job
	// gets ten starts in a second before the newer runs of other jobs go first. That is
	// far above what an ordinary job asks for and far below what the platform starts. A
	// greater quantum would push the third or fourth shard of a harmless fire behind its
	// neighbours. A smaller one would let a flood hold the queue for seconds.
	DefaultQuantum = 100 * time.Millisecond
	// MaxLead bounds how far ahead of now a fair time lies. It is the longest
	// span of other jobs' later arrivals that a flood's last run lets pass, so
	// that the flood does not starve either.
	MaxLead = time.Hour
	// maxJobs bounds the memory; see forget.
	maxJobs = 100_000
)

// Queue gives waiting runs their fair time: a virtual time per job that starts at the
// present and grows by a quantum with each run. A Queue knows only what its own node put
// in the queue. The fair times of several nodes still interleave, since all of them count
// from the same clock.
//
// It is safe for concurrent use.
type Queue struct {
	quantum time.Duration
	mu      sync.Mutex
	last    map[string]time.Time
}

// New returns an empty queue; a quantum that is not positive means
// DefaultQuantum.
func New(quantum time.Duration) *Queue {
	if quantum <= 0 {
		quantum = DefaultQuantum
	}
	return &Queue{quantum: quantum, last: map[string]time.Time{}}
}

// Fair is the sort key in the queue of a run that is due at due and begins to wait at now.
// It is the later of due and now, and at least a quantum after the job's former run. A
// late run counts from now and not from its due time. Otherwise a backlog after downtime
// would go before every fire that is on time (engine rule 5).
func (q *Queue) Fair(jobID string, due, now time.Time) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	fair := now
	if due.After(now) {
		fair = due
	}
	last, waiting := q.last[jobID]
	if waiting && !last.Before(now) {
		latest := fair.Add(MaxLead)
		if next := last.Add(q.quantum); next.After(fair) {
			fair = next
		}
		if fair.After(latest) {
			fair = latest
		}
	}
	if !waiting && len(q.last) >= maxJobs {
		q.forget(now)
	}
	q.last[jobID] = fair
	return fair
}

// Reset forgets all debts. The caller calls it when a claim finds nothing ready. Then no
// run of any job waits, and earlier starts of a job must not count against it in the next
// rush.
func (q *Queue) Reset() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.last)
}

// Len is the number of jobs that the queue remembers.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.last)
}

// forget drops the jobs whose virtual time has passed, which changes nothing. If that is
// not enough, it drops any tenth, and these jobs start afresh. Either way the next call is
// many new jobs away, so its cost is spread.
func (q *Queue) forget(now time.Time) {
	for id, last := range q.last {
		if last.Before(now) {
			delete(q.last, id)
		}
	}
	for id := range q.last {
		if len(q.last) <= maxJobs-maxJobs/10 {
			break
		}
		delete(q.last, id)
	}
}
