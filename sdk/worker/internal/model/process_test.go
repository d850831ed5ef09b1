package model_test

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// atProcess brings an answer to a process.
func (c *config) atProcess(w *World, m Msg) error {
	p := &w.Procs[m.Proc]
	if p.Life != m.Life {
		return nil
	}
	switch m.Kind {
	case mRegistered:
		p.Registering = false
		if m.Refused || p.Has {
			return nil
		}
		sent := m.At
		if c.seed == seedLateSent {
			sent = w.instant()
		}
		p.Has = true
		p.L = attempts.Begin(attempts.Entry{
			Epoch: m.Epoch, Lease: timing.Lease, Slots: attempts.Slots{attempts.General: c.slots},
		}, sent)
		return c.again(w, m.Proc)
	case mReceipts:
		p.Reporting = false
		p.L.Receipts(m.Receipts, w.instant())
		if c.forgets() {
			p.L.Ended = nil
		}
		return nil
	}
	a := m.Answer
	if a.Seq == p.Asked {
		p.Polling = false
	}
	if c.seed == seedOldAnswer {
		a.Seq = p.Asked
	}
	work := p.L.Answer(a, w.instant())
	for _, r := range work.Begin {
		i, bit := runOf(r.Execution), uint32(1)<<r.Token
		if w.Started[i]&bit != 0 {
			return fmt.Errorf("a second start of %s", delivery.Attempt(r.Attempt))
		}
		w.Started[i] |= bit
	}
	for _, stop := range work.Stop {
		p.L.End(stop.Attempt, "LOST")
	}
	return c.again(w, m.Proc)
}

// again polls once more where the poll has its answer.
func (c *config) again(w *World, p int) error {
	if err := c.wake(w, p); err != nil {
		return err
	}
	if x := &w.Procs[p]; x.Has && !x.Polling {
		w.poll(p)
	}
	return nil
}

// wake is the timer of a process at the end of its lease: it stops its handlers and begins a new life.
func (c *config) wake(w *World, p int) error {
	if x := &w.Procs[p]; x.Has && x.L.Over(w.instant()) {
		w.renew(p)
	}
	return nil
}

func (w *World) register(p int) {
	x := &w.Procs[p]
	x.Registering = true
	w.send(Msg{Kind: mRegister, Proc: p, Life: x.Life, Boot: x.Boot, At: w.instant()})
}

func (w *World) poll(p int) {
	x := &w.Procs[p]
	poll := x.L.Poll(w.instant())
	x.Polling, x.Asked = true, poll.Seq
	w.send(Msg{Kind: mPoll, Proc: p, Life: x.Life, Gate: x.At, Epoch: poll.Epoch, Poll: poll})
}

func (w *World) report(p int) {
	x := &w.Procs[p]
	x.Reporting = true
	w.send(Msg{Kind: mReport, Proc: p, Life: x.Life, Epoch: x.L.Epoch(), Ends: x.L.Ends()})
}

// check is what must hold in each state.
func (w *World) check() error {
	for i := range w.Procs {
		p := &w.Procs[i]
		if !p.Alive || !p.Has || w.instant() >= p.L.Until() {
			continue
		}
		for _, a := range p.L.Working() {
			if r := w.Runs[runOf(a.Execution)]; r.Token != a.Token || r.Status != running {
				return fmt.Errorf("two live attempts: %s runs on, and the store has given the run away",
					delivery.Attempt(a))
			}
		}
	}
	for i, r := range w.Runs {
		if r.Count > 1 || r.Count == 1 && r.Status != done {
			return fmt.Errorf("the run %s has ended %d times and is in state %d", names[i], r.Count, r.Status)
		}
	}
	return nil
}

// kept reports an end whose receipt says that the store has it, where it has not.
func (r *Row) kept(e attempts.End, receipt delivery.Receipt) error {
	if receipt != delivery.ReceiptAccepted && receipt != delivery.ReceiptDuplicate || e.Status == attempts.Returned {
		return nil
	}
	if r.Status != done || r.EndToken != e.Token {
		return fmt.Errorf("the end of %s got %s and is not in the store", delivery.Attempt(e.Attempt), receipt)
	}
	return nil
}
