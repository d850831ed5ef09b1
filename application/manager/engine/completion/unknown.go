package completion

import (
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// lastTries is how long a node that stops tries to store ends that it holds for an unknown answer of the store.
const lastTries = 10 * time.Second

// unknown reports that the store gave an unknown answer.
func unknown(err error) bool { return errors.As(err, new(*repository.UnknownError)) }

// hold postpones ends that met an unknown answer of the store, for a short time. Until one of them is to blame they
// keep their slots, so that no guess decides about fires that wait for them.
func (m *Completer) hold(items []*Result, cause error) {
	for _, f := range items {
		if f.cause != nil {
			continue // it has a reason of its own
		}
		m.holdAgain(f, cause)
	}
}

func (m *Completer) holdAgain(f *Result, cause error) {
	f.cause = cause
	f.tries++
	f.next = m.Clock.Monotonic() + batch.HeldPause(f.tries)
}

// retryHeld tries to store the postponed ends together: each may be the witness against another.
func (m *Completer) retryHeld(items []*Result) {
	if len(items) == 0 {
		return
	}
	tries := make([]int, len(items))
	for i, f := range items {
		tries[i] = f.tries
	}
	err := m.storeHeld(items)
	for i, f := range items {
		switch {
		case f.stored, f.tries != tries[i], errors.Is(f.cause, repository.ErrLocked):
			// it is postponed already, for its own reason
		case unknown(err):
			m.holdAgain(f, err)
		case batch.Passes(err):
			m.holdAgain(f, f.cause)
		default:
			m.postpone(f, err)
		}
	}
	if left := unstored(items); len(left) > 0 {
		if m.held.add(left, err, m.Clock.Monotonic()); tries[0]%20 == 1 {
			m.Logger.Error("ends of runs are held, because the store gives an answer that is not known",
				"runs", len(left), "error", err)
		}
	}
}

// retryToTheLast is the last chance of postponed ends: a server in trouble for a moment must not cost the outcome of a
// run.
func (m *Completer) retryToTheLast(timer clock.Timer) {
	var held, others []*Result
	for _, f := range m.held.takeStuck() {
		if unknown(f.cause) {
			held = append(held, f)
		} else {
			others = append(others, f)
		}
	}
	began := m.Clock.Monotonic()
	for try := 1; len(held) > 0 && m.Clock.Monotonic()-began < lastTries; try++ {
		m.retryHeld(held)
		if held = unstored(held); len(held) > 0 {
			timer.Reset(batch.HeldPause(try))
			<-timer.C()
		}
	}
	m.held.keepStuck(append(others, held...))
}
