package batch

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const (
	// A row is to blame without a witness when it has failed alone blameFailures times, over at least blameAfter.
	blameFailures = 5
	blameAfter    = 30 * time.Second
	// forgotten is the time after which Blame forgets a row that has not failed again.
	forgotten = time.Hour
	// maxTrials bounds the remembered rows; beyond it, Blame forgets the row that failed longest ago.
	maxTrials = 4096
)

// Pauses of a batch that is held, see HeldPause.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// HeldPause is the wait before a held batch is tried again after so many failures:
// 100 ms, doubling to 2 s.
func HeldPause(failures int) time.Duration {
	return min(firstPause<<min(max(failures-1, 0), 5), lastPause)
}

// Blame remembers which rows met, alone, an unknown answer of the store. Such a row is to blame after 5 failures over
// at least 30 s, during which the node reached the store. A nil Blame blames nobody. Safe for concurrent use.
type Blame struct {
	clock   clock.Clock
	beating func() bool

	// known is the number of trials; most of the time nothing is remembered.
	known  atomic.Int64
	mu     sync.Mutex
	trials map[string]trial
}

// trial is what Blame knows of one row, in monotonic time.
type trial struct {
	first, last time.Duration
	failures    int
}

// NewBlame returns one that remembers nothing. beating reports whether the latest
// beat of the node reached the store; nil is always.
func NewBlame(c clock.Clock, beating func() bool) *Blame {
	return &Blame{clock: c, beating: beating, trials: map[string]trial{}}
}

// Lasts notes that a row failed alone, by an unknown answer, and reports whether it has failed for long enough to be to
// blame.
func (b *Blame) Lasts(key string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.known.Store(int64(len(b.trials))) }()
	now := b.clock.Monotonic()
	if b.beating != nil && !b.beating() {
		delete(b.trials, key) // the store is in trouble, whatever the row is like
		return false
	}
	t, known := b.trials[key]
	if !known || now-t.last > forgotten {
		b.makeRoom(now)
		t = trial{first: now}
	}
	t.last = now
	t.failures++
	b.trials[key] = t
	return t.failures >= blameFailures && now-t.first >= blameAfter
}

func (b *Blame) makeRoom(now time.Duration) {
	oldest, at := "", now
	for key, t := range b.trials {
		if now-t.last > forgotten {
			delete(b.trials, key)
		} else if t.last <= at {
			oldest, at = key, t.last
		}
	}
	if len(b.trials) >= maxTrials {
		delete(b.trials, oldest)
	}
}

// Acquit forgets a row that its offender has handled for good. Walk itself forgets the rows that it stores.
func (b *Blame) Acquit(key string) { b.acquit(1, func(int) string { return key }) }

// acquit forgets rows that were stored.
func (b *Blame) acquit(n int, key func(i int) string) {
	if b == nil || b.known.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range n {
		delete(b.trials, key(i))
	}
	b.known.Store(int64(len(b.trials)))
}
