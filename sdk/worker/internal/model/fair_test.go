package model_test

import (
	"errors"
	"fmt"
)

// rounds is enough for what is longest: two leases, a take-over, and two runs one after the other.
const rounds = 16

// errForgotten: a run does not end although nothing goes wrong any more.
var errForgotten = errors.New("a forgotten run")

// fair goes on from a state without faults: what is under way arrives, each process polls and reports, gateways
// beat, look, claim and answer, the leader looks. All runs must end.
func (c *config) fair(w World) error {
	w.Faults = 0
	for g := range w.Gates {
		w.Gates[g].Beat, w.Gates[g].SlowRead = fateStored, false
	}
	for range rounds {
		if w.Runs[0].Status == done && w.Runs[1].Status == done {
			return nil
		}
		if err := c.round(&w); err != nil {
			return fmt.Errorf("in a fair run: %w", err)
		}
		w.Now++
		for i := range w.Procs {
			_ = c.wake(&w, i)
		}
	}
	return fmt.Errorf("%w: %+v", errForgotten, w.Runs)
}

func (c *config) round(w *World) error {
	if !w.Procs[0].Alive && !w.Procs[1].Alive {
		w.start(0)
	}
	steps := []func() error{
		func() error { return c.each(w, c.call) },
		func() error { return c.gates(w) },
		func() error { return c.each(w, c.work) },
		func() error { w.judge(); return nil },
	}
	for _, step := range steps {
		if err := c.drain(w); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	if err := c.drain(w); err != nil {
		return err
	}
	for i := range w.Runs {
		if r := &w.Runs[i]; r.Holder == elsewhere && r.Status == running {
			r.Status, r.EndToken, r.Count = done, r.Token, r.Count+1
		}
	}
	return w.check()
}

// drain lets all arrive that is under way.
func (c *config) drain(w *World) error {
	for len(w.Net) > 0 {
		if err := c.apply(w, action{name: "deliver"}); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) each(w *World, do func(w *World, p int)) error {
	for i := range w.Procs {
		if w.Procs[i].Alive {
			do(w, i)
		}
	}
	return nil
}

// call is what a process sends in a round. A call without an answer is given up.
func (c *config) call(w *World, i int) {
	p := &w.Procs[i]
	if !p.Has {
		w.register(i)
		return
	}
	if len(p.L.Ends()) > 0 {
		w.report(i)
	}
	if left := p.L; c.leaves {
		if _, ok := left.Leave(); ok {
			c.processStep(w, action{name: "leave", a: i})
			return
		}
	}
	if !p.Polling || !w.waits(i) {
		w.poll(i)
	}
}

// waits reports whether the newest poll of a process waits at its gateway.
func (w *World) waits(i int) bool {
	p := &w.Procs[i]
	g := &w.Gates[p.At]
	return g.Waiting && g.Caller == i && g.CallerLife == p.Life && g.Session.Seq() == p.Asked
}

// work ends all handlers of a process and reports.
func (c *config) work(w *World, i int) {
	p := &w.Procs[i]
	for _, a := range p.L.Working() {
		p.L.End(a, "SUCCESS")
	}
	if p.Has && len(p.L.Ends()) > 0 {
		w.report(i)
	}
}

func (c *config) gates(w *World) error {
	for g := range w.Gates {
		gate := &w.Gates[g]
		if !gate.Waiting {
			continue
		}
		if c.seed != seedNoLook || gate.Session.Unread() {
			gate.Session.Held(gate.Session.Seq(), w.held(gate.Epoch))
		}
		for i := range w.Runs {
			for _, a := range []action{{name: "claim", a: g, b: i}} {
				if gate.Session.Credits()[0] > 0 && w.Runs[i].Status == waiting {
					if err := c.apply(w, a); err != nil {
						return err
					}
				}
			}
		}
		if err := c.answer(w, g); err != nil {
			return err
		}
	}
	return nil
}
