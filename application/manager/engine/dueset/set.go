// Package dueset holds the jobs that are due soon, until they are fired (engine rules
// 5, 8 and 12, see docs/rules.md).
package dueset

import (
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/timingwheel"
)

// Due says that a job is due at a moment. It is only a reminder: the fire
// transaction checks everything again (engine rule 12).
type Due struct {
	Job   *entity.Job
	Sched *schedule.Schedule
	state dueState
	// Late: it came due as one that is catching up.
	Late bool
	wait lockWait
}

type dueState int

const (
	inWheel dueState = iota
	inQueue
	inFire
	// inLock: somebody else has locked the job's row, see locked.go.
	inLock
)

// LateAfter is the lateness from which a fire is catching up and yields
// to those that are on time (engine rule 5).
const LateAfter = 2 * time.Second

// LateShare is the part of the batches kept for catching up while there is
// something to catch up with: one in eight, of each batch that is large enough.
const LateShare = 8

// Set holds the jobs that are due soon: a timing wheel, two queues of what
// has come due, on time and late, and what somebody else has locked. Safe for
// concurrent use.
type Set struct {
	mu     sync.Mutex
	wheel  *timingwheel.Wheel[*Due]
	held   map[string]*Due
	onTime queue
	late   queue
	// lateCredit counts the jobs of small batches towards the next one that is late.
	lateCredit int
	buf        []*Due
	// locked are jobs by id; lockedAdded is told of the first of them.
	locked      map[string]*Due
	lockedAdded chan struct{}
	// changed is closed and replaced when an earlier due job arrives.
	changed chan struct{}
	horizon time.Duration
	limit   int
}

// New returns a set without jobs. It keeps what is due within the horizon after its
// firing, and has room for limit jobs.
func New(now time.Time, horizon time.Duration, limit int) *Set {
	return &Set{
		wheel:       timingwheel.New[*Due](time.Millisecond, now),
		held:        map[string]*Due{},
		changed:     make(chan struct{}),
		locked:      map[string]*Due{},
		lockedAdded: make(chan struct{}, 1),
		horizon:     horizon,
		limit:       limit,
	}
}

// Upsert takes a job that a scan found or a change announced. A job that is
// being fired is left alone: its transaction will say what comes next.
func (b *Set) Upsert(job *entity.Job, sched *schedule.Schedule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.held[job.ID]; h != nil {
		if h.state == inFire {
			return
		}
		if h.Job.Version == job.Version && h.Job.NextFireTime.Equal(job.NextFireTime) {
			return
		}
		if h.state == inQueue || h.state == inLock {
			h.Job, h.Sched = job, sched
			return
		}
	}
	b.put(&Due{Job: job, Sched: sched})
}

// Unknown returns the ids of those jobs that are not held for that moment. A
// definition that changed without its due time stays held; the fire
// transaction finds the old version out, and the next scan reads the new one.
func (b *Set) Unknown(keys []repository.DueKey) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for _, k := range keys {
		if h := b.held[k.ID]; h == nil || h.state != inFire && !h.Job.DueTime.Equal(k.DueTime) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// put adds a due job to the wheel; the caller holds the lock.
func (b *Set) put(h *Due) {
	first, ok := b.wheel.NextExpiry()
	h.state = inWheel
	b.held[h.Job.ID] = h
	b.wheel.Add(h.Job.ID, h.Job.DueTime, h)
	if !ok || h.Job.DueTime.Before(first) {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// Remove drops a job that is not being fired.
func (b *Set) Remove(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[id]
	if h == nil || h.state != inWheel && h.state != inLock {
		return
	}
	b.wheel.Remove(id)
	delete(b.locked, id)
	delete(b.held, id)
}

// RetainPartitions drops the jobs of partitions that are not among those; nil is all. A
// job that is being fired stays.
func (b *Set) RetainPartitions(partitions []int) {
	if partitions == nil {
		return
	}
	owned := make(map[int]bool, len(partitions))
	for _, p := range partitions {
		owned[p] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, h := range b.held {
		if (h.state == inWheel || h.state == inLock) && !owned[h.Job.Partition] {
			b.wheel.Remove(id)
			delete(b.locked, id)
			delete(b.held, id)
		}
	}
	for _, due := range []*queue{&b.onTime, &b.late} {
		due.drop(func(h *Due) bool {
			if owned[h.Job.Partition] {
				return false
			}
			delete(b.held, h.Job.ID)
			return true
		})
	}
}

// FinishFiring ends the firing of a due job: job is its state after the commit, nil
// when the reminder was wrong. A job due within the horizon stays in the due set. A
// due job is finished once: what follows for the rest of its batch, as when that
// fails, does not concern it.
func (b *Set) FinishFiring(h *Due, job *entity.Job, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[h.Job.ID] != h {
		return
	}
	delete(b.held, h.Job.ID)
	if job == nil || job.DueTime.IsZero() || job.Status != entity.JobEnabled ||
		job.DueTime.After(now.Add(b.horizon)) {
		return
	}
	b.put(&Due{Job: job, Sched: h.Sched})
}

// expire moves what has come due into the queues; the caller holds the lock.
func (b *Set) expire(now time.Time) {
	b.buf = b.wheel.Expire(now, b.buf[:0])
	border := now.Add(-LateAfter)
	for _, h := range b.buf {
		h.state, h.Late = inQueue, h.Job.DueTime.Before(border)
		b.queueOf(h).add(h)
	}
	clear(b.buf)
}

// Waiting reports how many due jobs wait to be fired at now.
func (b *Set) Waiting(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	return b.onTime.size + b.late.size
}

func (b *Set) queueOf(h *Due) *queue {
	if h.Late {
		return &b.late
	}
	return &b.onTime
}

// Take hands out up to limit jobs that are due, on-time ones first, and of
// each kind the most urgent. Where slots come free one by one, one in eight of
// them goes to what is late, and the first ones do not (engine rule 5).
func (b *Set) Take(now time.Time, limit int) []*Due {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	reserved := limit / LateShare
	if reserved == 0 && b.late.size > 0 && b.onTime.size > 0 {
		if b.lateCredit += limit; b.lateCredit >= LateShare {
			reserved, b.lateCredit = 1, b.lateCredit-LateShare
		}
	}
	reserved = min(reserved, b.late.size)
	fromFresh := min(b.onTime.size, limit-reserved)
	fromLate := min(b.late.size, limit-fromFresh)
	out := b.onTime.take(make([]*Due, 0, fromFresh+fromLate), fromFresh)
	out = b.late.take(out, fromLate)
	for _, h := range out {
		h.state = inFire
	}
	return out
}

// GiveBack returns due jobs that were taken and did not fit into their batch, in
// the order in which they were taken: they are the next to be taken.
func (b *Set) GiveBack(dueJobs []*Due) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var onTime, late []*Due
	for _, h := range dueJobs {
		h.state = inQueue
		if h.Late {
			late = append(late, h)
		} else {
			onTime = append(onTime, h)
		}
	}
	b.onTime.putBack(onTime)
	b.late.putBack(late)
}

// Next is when the earliest due job comes due, and a channel that closes when an
// earlier one arrives.
func (b *Set) Next() (at time.Time, ok bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok = b.wheel.NextExpiry()
	return at, ok, b.changed
}

// Free is how many more due jobs the due set takes before the scan must wait.
func (b *Set) Free() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - len(b.held)
}

// Wake wakes those who wait for the earliest due job.
func (b *Set) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}
