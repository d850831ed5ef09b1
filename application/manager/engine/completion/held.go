package completion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// After heldTooLong the health of the node shows an end that the store has not taken; after unknownTooLong, where the
	// store gives an unknown answer.
	heldTooLong    = time.Minute
	unknownTooLong = 5 * time.Second
	// maxHeldWait is the longest wait between two tries to store one end.
	maxHeldWait = 30 * time.Second
	// lockedWait is that for an end that needs what somebody else has locked.
	lockedWait = time.Second
	// maxReason is the longest reason that fits its column, in bytes.
	maxReason = 30
)

// held are the ends that the store has failed to take at least once. Safe for
// concurrent use.
type held struct {
	mu sync.Mutex
	// tries holds the failed tries.
	tries map[*Result]heldTry
	// stuck are those that fail for a reason of their own.
	stuck []*Result
	cause error
	wake  chan struct{}
}

// heldTry is when the first try to store an end failed, in monotonic time, and whether the latest try met an unknown
// answer.
type heldTry struct {
	since   time.Duration
	unknown bool
}

// tooLong reports whether the health of the node shows the end.
func (t heldTry) tooLong(now time.Duration) bool {
	return now-t.since >= heldTooLong || t.unknown && now-t.since >= unknownTooLong
}

func newHeld() *held {
	return &held{tries: map[*Result]heldTry{}, wake: make(chan struct{}, 1)}
}

// add notes a failed try.
func (h *held) add(items []*Result, cause error, now time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cause = cause
	for _, f := range items {
		t, known := h.tries[f]
		if !known {
			t.since = now
		}
		t.unknown = unknown(cause)
		h.tries[f] = t
	}
}

// locked reports whether any of the ends needs what an end that is stuck waits
// for, because somebody else has locked it.
func (h *held) locked(items []*Result) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	jobs := map[string]bool{}
	for _, f := range append(slices.Clip(h.stuck), items...) {
		if errors.Is(f.cause, repository.ErrLocked) {
			jobs[f.Run.Job.ID] = true
		}
	}
	return len(jobs) > 0 && slices.ContainsFunc(items, func(f *Result) bool { return jobs[f.Run.Job.ID] })
}

// drop forgets ends that are stored.
func (h *held) drop(items []*Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tries) == 0 {
		return
	}
	for _, f := range items {
		delete(h.tries, f)
	}
}

// keepStuck takes those over that are stuck, and returns the others.
func (h *held) keepStuck(items []*Result) (others []*Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range items {
		if f.cause == nil {
			others = append(others, f)
			continue
		}
		h.stuck = append(h.stuck, f)
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
	return others
}

// takeStuck empties the list of stuck ends.
func (h *held) takeStuck() []*Result {
	h.mu.Lock()
	defer h.mu.Unlock()
	stuck := h.stuck
	h.stuck = nil
	return stuck
}

// long are the ends that have been held for too long: how many, the one that
// waits longest, and the latest error.
func (h *held) long(now time.Duration) (n int, oldest *Result, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f, t := range h.tries {
		if !t.tooLong(now) {
			continue
		}
		n++
		if oldest == nil || t.since < h.tries[oldest].since {
			oldest = f
		}
	}
	return n, oldest, h.cause
}

// HeldEnds counts the ends of runs that the store has not taken for over a minute, or for over 5 s by an unknown
// answer. Safe for concurrent use.
func (m *Completer) HeldEnds() int {
	n, _, _ := m.held.long(m.Clock.Monotonic())
	return n
}

// Holding says that there are HeldEnds, and why the store did not take them; it
// blocks nothing. Safe for concurrent use.
func (m *Completer) Holding() (reason string, blocks bool) {
	n, oldest, cause := m.held.long(m.Clock.Monotonic())
	if n == 0 {
		return "", false
	}
	return fmt.Sprintf("%d ends of runs could not be stored for long, that of execution %s for longest; "+
		"the latest error: %v",
		n, oldest.Run.Execution.ID, cause), false
}

// heldLoop tries to store the ends that are stuck, each alone and less and less
// often, until done is closed. The rest is tried a last time and given
// up: the next life of the node, or another node, ends those runs as lost.
func (m *Completer) heldLoop(done <-chan struct{}) {
	timer := m.Clock.NewTimer(maxHeldWait)
	defer timer.Stop()
	for {
		select {
		case <-done:
			m.retryToTheLast(timer)
			for _, f := range m.held.takeStuck() {
				f.cause = nil // it may wait for a lock
				if err := m.retryStuck(f); !f.stored {
					m.Logger.Error("the end of a run is given up, because the store did not take it until the stop",
						"execution", f.Run.Execution.ID, "error", err)
				}
			}
			return
		case <-m.held.wake:
		case <-timer.C():
		}
		timer.Reset(m.retryDue())
	}
}

// retryDue tries the stuck ends that are due, and returns when the next one is. It tries the ends that met an unknown
// answer together: each may be the witness against another.
func (m *Completer) retryDue() time.Duration {
	next := maxHeldWait
	var together []*Result
	stuck := m.held.takeStuck()
	for _, f := range stuck {
		switch {
		case m.Clock.Monotonic() < f.next:
		case unknown(f.cause):
			together = append(together, f)
		default:
			if err := m.retryStuck(f); !f.stored {
				m.held.add([]*Result{f}, err, m.Clock.Monotonic())
			}
		}
	}
	m.retryHeld(together)
	for _, f := range unstored(stuck) {
		next = min(next, max(f.next-m.Clock.Monotonic(), 0))
		m.held.keepStuck([]*Result{f})
	}
	select { // what was put back is no news
	case <-m.held.wake:
	default:
	}
	return next
}

// retryStuck tries to store one stuck end.
func (m *Completer) retryStuck(f *Result) error {
	err := m.storeHeld([]*Result{f})
	if !f.stored {
		m.postpone(f, err)
	}
	return err
}

// postpone says when a stuck end is tried again: less and less often, but soon
// after somebody has let go what the end needs.
func (m *Completer) postpone(f *Result, cause error) {
	f.cause = cause
	if errors.Is(cause, repository.ErrLocked) {
		f.next = m.Clock.Monotonic() + lockedWait
		return
	}
	f.next = m.Clock.Monotonic() + min(time.Second<<min(f.tries, 5), maxHeldWait)
	f.tries++
}

func (m *Completer) postponeAll(items []*Result, cause error) {
	for _, f := range items {
		m.postpone(f, cause)
	}
}

// lockWaits bounds the waits of one batch in search of what is locked.
const lockWaits = 3

var errJobLocked = apperror.Unavailable(fmt.Errorf("the job of the run: %w", repository.ErrLocked))

// storeAround stores the ends that need nothing that somebody else has locked,
// and puts the others off. Which jobs are locked it sees; a run or a group costs
// a wait, and halves the ends until it is alone, or the waits are spent.
func (m *Completer) storeAround(ctx context.Context, items []*Result, waits *int) error {
	err := m.storeTogether(ctx, items, false)
	if !errors.Is(err, repository.ErrLocked) || errors.Is(err, errJobLocked) {
		return err
	}
	if *waits--; len(items) < 2 || *waits <= 0 {
		m.postponeAll(items, err)
		return err
	}
	half := len(items) / 2
	return errors.Join(m.storeAround(ctx, items[:half], waits), m.storeAround(ctx, items[half:], waits))
}

// storeAlone stores an end that the store refuses as it is (engine rule 10). It first leaves out texts from outside,
// where these may be to blame. Then it stores the end apart from all that follows from it; sweeps make up for that. An
// unknown answer is a cause here only where the end is to blame for it. If one comes later, the completer holds the end
// and tries it whole again.
func (m *Completer) storeAlone(f *Result, cause error) error {
	for {
		var poison *repository.PoisonError
		switch {
		case errors.As(cause, &poison) && !f.reduced:
			m.Logger.Error("the store refuses the end of a run; it is stored without its texts",
				"execution", f.Run.Execution.ID, "error", cause)
			f.reduce()
		case !f.endOnly:
			m.Logger.Error("what follows from the end of a run cannot be stored; the end is stored alone",
				"execution", f.Run.Execution.ID, "error", cause)
			f.endOnly = true
		default:
			m.postpone(f, cause)
			return fmt.Errorf("store the end of run %s: %w", f.Run.Execution.ID, cause)
		}
		if cause = batch.Guard(func() error { return m.store([]*Result{f}) }); cause == nil || batch.Passes(cause) {
			return cause
		}
		if unknown(cause) && !f.endOnly {
			return apperror.Unavailable(cause)
		}
	}
}

// reduce leaves nothing of the end that a column may refuse.
func (f *Result) reduce() {
	f.reduced = true
	f.Outcome.Result, f.Outcome.Checkpoint = "", ""
	f.Outcome.Message = "the result could not be stored as it was"
	f.Outcome.Progress = min(max(f.Outcome.Progress, 0), 100)
	if r := string(f.Outcome.Reason); len(r) > maxReason || strings.ContainsFunc(r, func(c rune) bool {
		return c >= utf8.RuneSelf
	}) {
		f.Outcome.Reason = entity.ReasonError
	}
	if f.Log != nil {
		f.Log.Discard()
	}
}

// definitions are the current ones of the jobs whose runs did not succeed:
// retries follow the job as it is now (engine rule 17). An end that is stored
// apart goes by the definition that its run began with.
func (m *Completer) definitions(ctx context.Context, items []*Result) (entity.Definitions, error) {
	var failed []*entity.Execution
	for _, f := range items {
		if job := f.Run.Job; f.endOnly && job.Version > 0 {
			return entity.Definitions{job.ID: job, f.Run.Execution.ID: job}, nil // such an end is alone
		}
		if !f.endOnly && f.Outcome.Status != entity.StatusSuccess {
			failed = append(failed, f.Run.Execution)
		}
	}
	if len(failed) == 0 {
		return nil, nil
	}
	jobs, err := m.Jobs.For(ctx, failed)
	if err != nil {
		return nil, fmt.Errorf("load the jobs of runs that failed: %w", err)
	}
	return jobs, nil
}
