package firing

import (
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/timingwheel"
)

// hint says that a job is due at a moment. It is only a hint: the fire
// transaction checks everything again (engine rule 12).
type hint struct {
	job   *entity.Job
	sched *schedule.Schedule
	state hintState
	// late: it came due as one that is catching up.
	late bool
	wait lockWait
}

type hintState int

const (
	inWheel hintState = iota
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

// book holds the hints of what is due soon: a timing wheel, two queues of what
// has come due, on time and late, and what somebody else has locked. Safe for
// concurrent use.
type book struct {
	mu    sync.Mutex
	wheel *timingwheel.Wheel[*hint]
	held  map[string]*hint
	fresh queue
	late  queue
	// owed counts the jobs of small batches towards the next one that is late.
	owed int
	buf  []*hint
	// locked are jobs by id; news is told of the first of them.
	locked map[string]*hint
	news   chan struct{}
	// changed is closed and replaced when an earlier hint arrives.
	changed chan struct{}
	horizon time.Duration
	limit   int
}

func newBook(now time.Time, horizon time.Duration, limit int) *book {
	return &book{
		wheel:   timingwheel.New[*hint](time.Millisecond, now),
		held:    map[string]*hint{},
		changed: make(chan struct{}),
		locked:  map[string]*hint{},
		news:    make(chan struct{}, 1),
		horizon: horizon,
		limit:   limit,
	}
}

// offer takes a job that a scan found or a change announced. A job that is
// being fired is left alone: its transaction will say what comes next.
func (b *book) offer(job *entity.Job, sched *schedule.Schedule) {
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
	b.put(&hint{job: job, sched: sched})
}

// unknown returns the ids of those jobs that are not held for that moment. A
// definition that changed without its due time stays held; the fire
// transaction finds the old version out, and the next scan reads the new one.
func (b *book) unknown(keys []repository.DueKey) []string {
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

// put adds a hint to the wheel; the caller holds the lock.
func (b *book) put(h *hint) {
	first, ok := b.wheel.NextExpiry()
	h.state = inWheel
	b.held[h.job.ID] = h
	b.wheel.Add(h.job.ID, h.job.DueTime, h)
	if !ok || h.job.DueTime.Before(first) {
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

// forget drops a job that is not being fired.
func (b *book) forget(id string) {
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

// keep drops the jobs of partitions that are not among those; nil is all. What
// is being fired stays.
func (b *book) keep(partitions []int) {
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
	for _, due := range []*queue{&b.fresh, &b.late} {
		due.drop(func(h *hint) bool {
			if owned[h.job.Partition] {
				return false
			}
			delete(b.held, h.job.ID)
			return true
		})
	}
}

// settle ends the firing of a hint: job is its state after the commit, nil
// when the hint was wrong. What is due within the horizon stays in the book. A
// hint is settled once: what follows for the rest of its batch, as when that
// fails, does not concern it.
func (b *book) settle(h *hint, job *entity.Job, now time.Time) {
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
	b.put(&hint{job: job, sched: h.sched})
}

// expire moves what has come due into the queues; the caller holds the lock.
func (b *book) expire(now time.Time) {
	b.buf = b.wheel.Expire(now, b.buf[:0])
	border := now.Add(-lateLaneAfter)
	for _, h := range b.buf {
		h.state, h.late = inQueue, h.job.DueTime.Before(border)
		b.queueOf(h).add(h)
	}
	clear(b.buf)
}

// due reports how many hints wait to be fired at now.
func (b *book) due(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	return b.fresh.size + b.late.size
}

func (b *book) queueOf(h *hint) *queue {
	if h.late {
		return &b.late
	}
	return &b.fresh
}

// take hands out up to limit hints that are due, on-time ones first, and of
// each kind the most urgent. Where slots come free one by one, one in eight of
// them goes to what is late, and the first ones do not (engine rule 5).
func (b *book) take(now time.Time, limit int) []*hint {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	reserved := limit / lateShare
	if reserved == 0 && b.late.size > 0 && b.fresh.size > 0 {
		if b.owed += limit; b.owed >= lateShare {
			reserved, b.owed = 1, b.owed-lateShare
		}
	}
	reserved = min(reserved, b.late.size)
	fromFresh := min(b.fresh.size, limit-reserved)
	fromLate := min(b.late.size, limit-fromFresh)
	out := b.fresh.take(make([]*hint, 0, fromFresh+fromLate), fromFresh)
	out = b.late.take(out, fromLate)
	for _, h := range out {
		h.state = inFire
	}
	return out
}

// giveBack returns hints that were taken and did not fit into their batch, in
// the order in which they were taken: they are the next to be taken.
func (b *book) giveBack(hints []*hint) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var fresh, late []*hint
	for _, h := range hints {
		h.state = inQueue
		if h.late {
			late = append(late, h)
		} else {
			fresh = append(fresh, h)
		}
	}
	b.fresh.putBack(fresh)
	b.late.putBack(late)
}

// next is when the earliest hint comes due, and a channel that closes when an
// earlier one arrives.
func (b *book) next() (at time.Time, ok bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok = b.wheel.NextExpiry()
	return at, ok, b.changed
}

// room is how many more hints the book takes before the scan must wait.
func (b *book) room() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - len(b.held)
}

// poke wakes those who wait for the earliest hint.
func (b *book) poke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}
