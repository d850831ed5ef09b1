// Package steady keeps waits to their length where the store's clock is the wall clock of the machine, which may be set
// (engine rule 13). The store holds the moment at which a wait ends. This process also remembers when that is in
// monotonic time, and goes by this as long as it lives.
package steady

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// maxWaits bounds the memory, at about 200 bytes each. Further waits go by the store's clock.
	maxWaits = 100_000
	// tolerance is by how much the two clocks may part without a step of the wall clock.
	tolerance = 100 * time.Millisecond
	// kept is how long a wait that is over is still known, for those who go on with it by the store's clock.
	kept = time.Minute
)

// Waits are the waits of one part of the claim index. Those of nil know of none, and the store's clock decides. Safe
// for concurrent use.
type Waits struct {
	clock clock.Clock
	span  entity.ClaimSpan

	mu    sync.Mutex
	order order
	// ended are over, the first one first, and nobody has forgotten them yet.
	ended []*wait
	byID  map[string]*wait
}

// wait is one of them; over says that a newer one took its place, or that it was forgotten.
type wait struct {
	entity.SteadyWait

	over bool
}

// New remembers the waits of a span.
func New(c clock.Clock, span entity.ClaimSpan) *Waits {
	return &Waits{clock: c, span: span, byID: map[string]*wait{}}
}

// Add remembers waits.
func (w *Waits) Add(waits ...entity.SteadyWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range waits {
		former := w.byID[one.Execution]
		if !w.span.Of(one.Claim) || former == nil && len(w.order)+len(w.ended) >= maxWaits {
			continue
		}
		if former != nil {
			former.over = true
		}
		next := &wait{SteadyWait: one}
		w.byID[one.Execution] = next
		heap.Push(&w.order, next)
	}
}

// Holds reports whether the wait of an execution goes on, whatever the store's clock shows.
func (w *Waits) Holds(exec *entity.Execution) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.byID[exec.ID]
	return known != nil && known.Claim == exec.Claim && known.Due-w.clock.Monotonic() > tolerance
}

// Knows reports whether the execution waits as this process remembers it.
func (w *Waits) Knows(exec *entity.Execution) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.byID[exec.ID]
	return known != nil && known.Claim == exec.Claim
}

// Over are the waits that are over and that the store's clock would go on with. They are returned until they are
// forgotten.
func (w *Waits) Over(now time.Time) (over []entity.SteadyWait) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mono := w.clock.Monotonic()
	for len(w.order) > 0 && (w.order[0].over || w.order[0].Due <= mono) {
		w.ended = append(w.ended, heap.Pop(&w.order).(*wait)) //nolint:forcetypeassert // as Push gets
	}
	w.ended = slices.DeleteFunc(w.ended, func(one *wait) bool {
		if one.over {
			return true
		}
		until, ok := one.Claim.Until()
		if ok && until.After(now) {
			over = append(over, one.SteadyWait)
			return false
		}
		if mono-one.Due < kept {
			return false
		}
		delete(w.byID, one.Execution)
		return true
	})
	return over
}

// Forget drops waits with which somebody has gone on. A newer wait of the same execution stays.
func (w *Waits) Forget(execution string, claim entity.ClaimKey) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.byID[execution]; known != nil && known.Claim == claim {
		known.over = true
		delete(w.byID, execution)
	}
}

// Next is how long the first wait goes on; false when there is none.
func (w *Waits) Next() (time.Duration, bool) {
	if w == nil {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.order) > 0 && w.order[0].over {
		heap.Pop(&w.order)
	}
	if len(w.order) == 0 {
		return 0, false
	}
	return max(w.order[0].Due-w.clock.Monotonic(), 0), true
}

// order is a heap, the earliest first.
type order []*wait

// Len implements heap.Interface.
func (o order) Len() int { return len(o) }

// Less implements heap.Interface.
func (o order) Less(i, j int) bool { return o[i].Due < o[j].Due }

// Swap implements heap.Interface.
func (o order) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

// Push implements heap.Interface.
func (o *order) Push(x any) { *o = append(*o, x.(*wait)) } //nolint:forcetypeassert // as Add gives

// Pop implements heap.Interface.
func (o *order) Pop() any {
	last := len(*o) - 1
	one := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return one
}
