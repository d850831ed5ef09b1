package firing

import (
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/timingwheel"
)

// dueJob says that a job is due at a moment. It is only a reminder: the fire
// transaction checks everything again (engine rule 12).
type dueJob struct {
	job   *entity.Job
	sched *schedule.Schedule
	state dueState
	// late: it came due as one that is catching up.
	late bool
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

// lateLaneAfter is the lateness from which a fire is catching up and yields
// to those that are on time (engine rule 5).
const lateLaneAfter = 2 * time.Second

// lateShare is the part of the batches kept for catching up while there is
// something to catch up with: one in eight, of each batch that is large enough.
const lateShare = 8

// dueSet holds the jobs that are due soon: a timing wheel, two queues of what
// has come due, on time and late, and what somebody else has locked. Safe for
// concurrent use.
type dueSet struct {
	mu     sync.Mutex
	wheel  *timingwheel.Wheel[*dueJob]
	held   map[string]*dueJob
	onTime queue
	late   queue
	// lateCredit counts the jobs of small batches towards the next one that is late.
	lateCredit int
	buf        []*dueJob
	// locked are jobs by id; news is told of the first of them.
	locked      map[string]*dueJob
	lockedAdded chan struct{}
	// changed is closed and replaced when an earlier due job arrives.
	changed chan struct{}
	horizon time.Duration
	limit   int
}

func newDueSet(now time.Time, horizon time.Duration, limit int) *dueSet {
	return &dueSet{
		wheel:       timingwheel.New[*dueJob](time.Millisecond, now),
		held:        map[string]*dueJob{},
		changed:     make(chan struct{}),
		locked:      map[string]*dueJob{},
		lockedAdded: make(chan struct{}, 1),
		horizon:     horizon,
		limit:       limit,
	}
}

// upsert takes a job that a scan found or a change announced. A job that is
// being fired is left alone: its transaction will say what comes next.
func (b *dueSet) upsert(job *entity.Job, sched *schedule.Schedule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.held[job.ID]; h != nil {
		if h.state == inFire {
			return
		}
		if h.job.Version == job.Version && h.job.NextFireTime.Equal(job.NextFireTime) {
			return
		}
		if h.state == inQueue || h.state == inLock {
			h.job, h.sched = job, sched
			return
		}
	}
	b.put(&dueJob{job: job, sched: sched})
}

// unknown returns the ids of those jobs that are not held for that moment. A
// definition that changed without its due time stays held; the fire
// transaction finds the old version out, and the next scan reads the new one.
func (b *dueSet) unknown(keys []repository.DueKey) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for _, k := range keys {
		if h := b.held[k.ID]; h == nil || h.state != inFire && !h.job.DueTime.Equal(k.DueTime) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// put adds a due job to the wheel; the caller holds the lock.
func (b *dueSet) put(h *dueJob) {
	first, ok := b.wheel.NextExpiry()
	h.state = inWheel
	b.held[h.job.ID] = h
	b.wheel.Add(h.job.ID, h.job.DueTime, h)
	if !ok || h.job.DueTime.Before(first) {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// remove drops a job that is not being fired.
func (b *dueSet) remove(id string) {
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

// retainPartitions drops the jobs of partitions that are not among those; nil is all. What
// is being fired stays.
func (b *dueSet) retainPartitions(partitions []int) {
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
		if (h.state == inWheel || h.state == inLock) && !owned[h.job.Partition] {
			b.wheel.Remove(id)
			delete(b.locked, id)
			delete(b.held, id)
		}
	}
	for _, due := range []*queue{&b.onTime, &b.late} {
		due.drop(func(h *dueJob) bool {
			if owned[h.job.Partition] {
				return false
			}
			delete(b.held, h.job.ID)
			return true
		})
	}
}

// finishFiring ends the firing of a due job: job is its state after the commit, nil
// when the reminder was wrong. What is due within the horizon stays in the due set. A
// due job is finished once: what follows for the rest of its batch, as when that
// fails, does not concern it.
func (b *dueSet) finishFiring(h *dueJob, job *entity.Job, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[h.job.ID] != h {
		return
	}
	delete(b.held, h.job.ID)
	if job == nil || job.DueTime.IsZero() || job.Status != entity.JobEnabled ||
		job.DueTime.After(now.Add(b.horizon)) {
		return
	}
	b.put(&dueJob{job: job, sched: h.sched})
}

// expire moves what has come due into the queues; the caller holds the lock.
func (b *dueSet) expire(now time.Time) {
	b.buf = b.wheel.Expire(now, b.buf[:0])
	border := now.Add(-lateLaneAfter)
	for _, h := range b.buf {
		h.state, h.late = inQueue, h.job.DueTime.Before(border)
		b.queueOf(h).add(h)
	}
	clear(b.buf)
}

// due reports how many due jobs wait to be fired at now.
func (b *dueSet) due(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	return b.onTime.size + b.late.size
}

func (b *dueSet) queueOf(h *dueJob) *queue {
	if h.late {
		return &b.late
	}
	return &b.onTime
}

// take hands out up to limit jobs that are due, on-time ones first, and of
// each kind the most urgent. Where slots come free one by one, one in eight of
// them goes to what is late, and the first ones do not (engine rule 5).
func (b *dueSet) take(now time.Time, limit int) []*dueJob {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	reserved := limit / lateShare
	if reserved == 0 && b.late.size > 0 && b.onTime.size > 0 {
		if b.lateCredit += limit; b.lateCredit >= lateShare {
			reserved, b.lateCredit = 1, b.lateCredit-lateShare
		}
	}
	reserved = min(reserved, b.late.size)
	fromFresh := min(b.onTime.size, limit-reserved)
	fromLate := min(b.late.size, limit-fromFresh)
	out := b.onTime.take(make([]*dueJob, 0, fromFresh+fromLate), fromFresh)
	out = b.late.take(out, fromLate)
	for _, h := range out {
		h.state = inFire
	}
	return out
}

// giveBack returns due jobs that were taken and did not fit into their batch, in
// the order in which they were taken: they are the next to be taken.
func (b *dueSet) giveBack(dueJobs []*dueJob) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var onTime, late []*dueJob
	for _, h := range dueJobs {
		h.state = inQueue
		if h.late {
			late = append(late, h)
		} else {
			onTime = append(onTime, h)
		}
	}
	b.onTime.putBack(onTime)
	b.late.putBack(late)
}

// next is when the earliest due job comes due, and a channel that closes when an
// earlier one arrives.
func (b *dueSet) next() (at time.Time, ok bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok = b.wheel.NextExpiry()
	return at, ok, b.changed
}

// free is how many more due jobs the due set takes before the scan must wait.
func (b *dueSet) free() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - len(b.held)
}

// wake wakes those who wait for the earliest due job.
func (b *dueSet) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}
