package model_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// action is one step of the world. Steps in which something goes wrong cost one of the faults.
type action struct {
	name  string
	a, b  int
	fault bool
	// One message of the step may stay under way, or leave a copy there: the one after so many hops.
	way way
	hop int
}

// way is what becomes of a message of a step. Most arrive at once, and so does what they bring about.
type way int

const (
	wayAtOnce way = iota
	wayLate       // it stays under way; it may never arrive
	wayTwice      // it arrives, and a copy of it stays under way
)

func (a action) String() string {
	text := fmt.Sprintf("%s(%d,%d)", a.name, a.a, a.b)
	if a.way != wayAtOnce {
		text += fmt.Sprintf(", message %d %s", a.hop, []string{"", "late", "twice"}[a.way])
	}
	return text
}

// actions are the steps that the world may take next.
func (c *config) actions(w *World) (out []action) {
	add := func(fault bool, name string, a, b int) {
		if fault && (w.Faults == 0 || !c.may(name)) {
			return
		}
		out = append(out, action{name: name, a: a, b: b, fault: fault})
		if w.Faults > 1 || !fault && w.Faults > 0 {
			for hop := range hops[name] {
				if c.may("late") {
					out = append(out, action{name, a, b, fault, wayLate, hop})
				}
				if c.may("twice") {
					out = append(out, action{name, a, b, fault, wayTwice, hop})
				}
			}
		}
	}
	for i := range w.Net {
		add(false, "deliver", i, 0)
	}
	alive := 0
	for i := range w.Procs {
		if w.Procs[i].Alive {
			alive++
			c.processActions(w, i, add)
		}
	}
	for i := range w.Procs {
		if !w.Procs[i].Alive {
			add(alive > 0, "start process", i, 0)
		}
	}
	for g := range w.Gates {
		c.gateActions(w, g, add)
	}
	if c.still {
		return out
	}
	for i, r := range w.Runs {
		if r.Status == waiting {
			add(false, "claim elsewhere", i, 0)
		}
	}
	if judged := *w; judged.Reg.Epoch > 0 {
		judged.judge()
		if judged.Reg.State != w.Reg.State || judged.Runs != w.Runs {
			add(false, "leader looks", 0, 0)
		}
	}
	add(false, "tick", 0, 0)
	return out
}

func (c *config) processActions(w *World, i int, add func(bool, string, int, int)) {
	p := &w.Procs[i]
	add(true, "crash process", i, 0)
	if !p.Has {
		if !p.Registering {
			add(false, "register", i, 0)
		}
		return
	}
	if !p.Polling {
		add(false, "poll", i, 0)
	}
	for g := range w.Gates {
		add(true, "cut and poll", i, g)
	}
	if len(p.L.Ends()) > 0 {
		add(p.Reporting, "report", i, 0)
	}
	for k := range p.L.Working() {
		add(false, "handler ends", i, k)
	}
	if c.leaves {
		add(true, "stop", i, 0)
		copied := p.L
		if _, ok := copied.Leave(); ok {
			add(false, "leave", i, 0)
		}
	}
}

func (c *config) gateActions(w *World, g int, add func(bool, string, int, int)) {
	gate := &w.Gates[g]
	if gate.Epoch > 0 {
		add(true, "restart gateway", g, 0)
	}
	for fate := fateLost; fate <= fateSlow && gate.Beat == fateStored; fate++ {
		add(true, "beats fail", g, int(fate))
	}
	if !gate.SlowRead {
		add(true, "read slowly", g, 0)
	}
	if !gate.Waiting {
		return
	}
	if c.seed != seedNoLook && w.looksNew(gate) {
		add(false, "look", g, 0)
	}
	credits := gate.Session.Credits()[entity.SlotGeneral]
	if c.seed == seedCredits && !gate.Session.Unread() {
		credits = 1
	}
	for i, r := range w.Runs {
		if r.Status == waiting && credits > 0 {
			add(false, "claim", g, i)
			add(true, "claim slowly", g, i)
			add(true, "claim, lose the reply", g, i)
		}
	}
	add(gate.Session.Unread(), "answer", g, 0)
}

// looksNew reports whether a read would change the answer.
func (w *World) looksNew(g *Gate) bool {
	before, after := g.Session, g.Session
	after.Held(g.Session.Seq(), w.held(g.Epoch))
	x, y := before.Answer(), after.Answer()
	return g.Session.Unread() || len(x.Runs) != len(y.Runs) || len(x.Cancel) != len(y.Cancel)
}

// hops is how many messages a step may bring about, each by the one before: a registration, its answer and the
// first poll; an answer and the next poll; a report and its receipts.
var hops = map[string]int{
	"register": 3, "poll": 1, "cut and poll": 1, "answer": 2, "handler ends": 2, "report": 2, "leave": 1, "deliver": 1,
}

// apply takes the step, and lets arrive what it sends.
func (c *config) apply(w *World, a action) error {
	if a.fault {
		w.Faults--
	}
	if a.way != wayAtOnce {
		w.Faults--
	}
	before := len(w.Net)
	if a.name == "deliver" {
		before--
	}
	if err := c.step(w, a); err != nil {
		return err
	}
	for hop := 0; len(w.Net) > before; hop++ {
		last := len(w.Net) - 1
		m := w.Net[last]
		if m.Kind >= mClaim || a.way == wayLate && hop == a.hop {
			return nil
		}
		w.Net = slices.Delete(slices.Clone(w.Net), last, last+1)
		if a.way == wayTwice && hop == a.hop {
			w.Net = slices.Insert(slices.Clone(w.Net), 0, m)
			before++
		}
		before = min(before, len(w.Net))
		if err := c.deliver(w, m); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) step(w *World, a action) error {
	switch a.name {
	case "deliver":
		m := w.Net[a.a]
		w.Net = slices.Delete(slices.Clone(w.Net), a.a, a.a+1)
		return c.deliver(w, m)
	case "tick":
		w.Now++
		for i := range w.Procs {
			if err := c.wake(w, i); err != nil {
				return err
			}
		}
	case "leader looks":
		w.judge()
	case "claim elsewhere":
		w.claim(a.a, elsewhere, 0)
	default:
		if slices.Contains(processSteps, a.name) {
			c.processStep(w, a)
			return nil
		}
		return c.gateStep(w, a)
	}
	return nil
}

func (c *config) deliver(w *World, m Msg) error {
	switch m.Kind {
	case mPoll:
		return c.arrive(w, m)
	case mRegistered, mAnswer, mReceipts:
		return c.atProcess(w, m)
	case mRows:
		gate := &w.Gates[m.Gate]
		seq := m.Seq
		if c.seed == seedOldRead {
			seq = gate.Session.Seq()
		}
		if gate.Life == m.Life && gate.Epoch == m.Epoch {
			gate.Session.Held(seq, m.Rows)
		}
		return nil
	}
	return c.atStore(w, m)
}

// judge is two looks of the leader, half a second apart, and its search for lost runs.
func (w *World) judge() {
	found, _ := w.Reg.Expired(delivery.Over{}, w.time(), time.Hour, 0)
	if found, down := w.Reg.Expired(found, w.time(), time.Hour, 0); down {
		w.Reg, _ = w.Reg.Down(found)
	}
	for i := range w.Runs {
		r := &w.Runs[i]
		if r.Status == running && r.Holder == worker && w.Reg.Lost(r.Epoch, w.time()) {
			r.Status, r.Holder = waiting, nobody
		}
	}
}

var processSteps = []string{
	"register", "poll", "cut and poll", "report", "handler ends", "crash process", "start process", "stop",
	"leave",
}

func (c *config) processStep(w *World, a action) {
	p := &w.Procs[a.a]
	switch a.name {
	case "register":
		w.register(a.a)
	case "cut and poll":
		p.At = a.b
		w.poll(a.a)
	case "poll":
		w.poll(a.a)
	case "report":
		w.report(a.a)
	case "handler ends":
		p.L.End(p.L.Working()[a.b], "SUCCESS")
		w.report(a.a)
	case "crash process":
		w.kill(a.a)
	case "start process":
		w.start(a.a)
	case "stop":
		p.L.Stop()
	case "leave":
		epoch, _ := p.L.Leave()
		w.send(Msg{Kind: mLeave, Epoch: epoch})
		w.kill(a.a)
	}
}

func (c *config) gateStep(w *World, a action) error {
	gate := &w.Gates[a.a]
	m := Msg{Gate: a.a, Life: gate.Life, Epoch: gate.Epoch, Seq: gate.Session.Seq(), Run: a.b}
	switch a.name {
	case "restart gateway":
		w.restart(a.a)
	case "beats fail":
		gate.Beat = fate(a.b)
	case "read slowly":
		gate.SlowRead = true
	case "look":
		gate.Session.Held(m.Seq, w.held(gate.Epoch))
	case "claim":
		gate.Session.Claiming()
		c.claimed(w, m)
	case "claim slowly":
		gate.Session.Claiming()
		m.Kind = mClaim
		w.send(m)
	case "claim, lose the reply":
		gate.Session.Claiming()
		w.claim(a.b, worker, gate.Epoch)
		gate.Session.Claimed(m.Seq, nil, false)
	case "answer":
		return c.answer(w, a.a)
	default:
		return fmt.Errorf("no step %s", a)
	}
	return nil
}

// ready brings a process to its first poll, which waits at gateway 0 with a stored beat.
func (c *config) ready(w *World) error {
	if c.fresh {
		return nil
	}
	return c.apply(w, action{name: "register"})
}
