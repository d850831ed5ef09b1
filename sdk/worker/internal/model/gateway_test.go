package model_test

import (
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// atStore is what happens to calls that a gateway passes to the store.
func (c *config) atStore(w *World, m Msg) error {
	switch m.Kind {
	case mRegister:
		reg, ok := w.Reg.Register(string(rune('0'+m.Boot)), timing, w.time())
		if ok && c.seed == seedTakeOver && reg.Epoch > w.Reg.Epoch {
			reg.FormerUntil = w.Reg.FormerUntil
		}
		w.Reg = reg
		if w.Procs[m.Proc].Life == m.Life {
			w.send(Msg{Kind: mRegistered, Proc: m.Proc, Life: m.Life, Epoch: reg.Epoch, At: m.At, Refused: !ok})
		}
	case mLeave:
		w.Reg = w.Reg.Leave(m.Epoch)
	case mBeat:
		c.beat(w, m.Gate, m.Epoch, m.Seq, w.Gates[m.Gate].Life == m.Life)
	case mClaim:
		c.claimed(w, m)
	case mReport:
		receipts, err := w.store(m)
		if err != nil {
			return err
		}
		if w.Procs[m.Proc].Life == m.Life {
			w.send(Msg{Kind: mReceipts, Proc: m.Proc, Life: m.Life, Epoch: m.Epoch, Receipts: receipts})
		}
	}
	return nil
}

// beat stores a beat; reply is false where the gateway does not hear of it.
func (c *config) beat(w *World, g int, epoch, seq int64, reply bool) {
	reg, ok := w.Reg.Beat(epoch, timing, w.time())
	w.Reg = reg
	gate := &w.Gates[g]
	if reply && gate.Epoch == epoch && ok {
		gate.Session.Stored(seq, timing.Lease)
	}
}

// claimed stores a slow claim, and brings its result to the gateway if that still lives.
func (c *config) claimed(w *World, m Msg) {
	runs := w.claim(m.Run, worker, m.Epoch)
	gate := &w.Gates[m.Gate]
	if gate.Life != m.Life || gate.Epoch != m.Epoch {
		return
	}
	seq := m.Seq
	if c.seed == seedLateClaim {
		seq = gate.Session.Seq()
	}
	if seq == gate.Session.Seq() && gate.Waiting {
		gate.Claims += len(runs)
	}
	gate.Session.Claimed(seq, runs, true)
}

// store stores ends, each conditional on holder, epoch and token, and writes the receipts.
func (w *World) store(m Msg) (out []attempts.Receipt, err error) {
	for _, e := range m.Ends {
		r := &w.Runs[runOf(e.Execution)]
		end := delivery.End{
			Worker: "@w", Epoch: m.Epoch, Attempt: delivery.Attempt(e.Attempt), Status: statusOf(e.Status),
		}
		stored := r.Status == running && r.Holder == worker && r.Epoch == m.Epoch && r.Token == e.Token
		switch {
		case stored && e.Status == attempts.Returned:
			r.Status, r.Holder = waiting, nobody
		case stored:
			r.Status, r.EndToken, r.Count = done, e.Token, r.Count+1
		}
		receipt := delivery.ReceiptFor(end, delivery.Found{Decided: true, Stored: stored, Execution: r.execution()})
		if err := r.kept(e, receipt); err != nil {
			return nil, err
		}
		out = append(out, attempts.Receipt{Attempt: e.Attempt, Kind: string(receipt)})
	}
	return out, nil
}

func statusOf(end string) entity.Status {
	if end == attempts.Returned {
		return entity.StatusWaiting
	}
	return entity.StatusSuccess
}

func (r *Row) execution() *entity.Execution {
	x := &entity.Execution{
		Status: []entity.Status{entity.StatusWaiting, entity.StatusRunning, entity.StatusSuccess}[r.Status],
		Epoch:  r.Epoch, Token: r.Token,
	}
	if r.Holder == worker {
		x.NodeID = "@w"
	}
	return x
}

// arrive brings a poll to a gateway. A poll of an epoch that is over ends that life.
func (c *config) arrive(w *World, m Msg) error {
	gate := &w.Gates[m.Gate]
	if m.Epoch > gate.Epoch {
		gate.Session, gate.Epoch, gate.Waiting = delivery.NewSession(m.Epoch), m.Epoch, false
	}
	switch gate.Session.Poll(pollOf(m.Poll), w.at()) {
	case delivery.ArrivalNew:
		gate.Caller, gate.CallerLife, gate.Waiting = m.Proc, m.Life, true
		gate.Free, gate.Ack, gate.Claims = m.Poll.Free[attempts.General], m.Poll.Ack, 0
		c.visit(w, m.Gate)
	case delivery.ArrivalRepeated:
		if !gate.Waiting {
			return c.answer(w, m.Gate)
		}
	case delivery.ArrivalForeign:
		if w.Procs[m.Proc].Life == m.Life {
			w.renew(m.Proc)
		}
	case delivery.ArrivalOutdated:
	}
	return nil
}

// visit is what a gateway does at once for a new poll: it stores the beat, and reads where memory does not do.
func (c *config) visit(w *World, g int) {
	gate := &w.Gates[g]
	m := Msg{Kind: mBeat, Gate: g, Life: gate.Life, Epoch: gate.Epoch, Seq: gate.Session.Seq()}
	switch how := gate.Beat; how {
	case fateSlow:
		w.send(m)
	case fateStored, fateReplyLost:
		c.beat(w, g, gate.Epoch, m.Seq, how == fateStored)
	case fateLost:
	}
	if !gate.Session.Unread() {
		return
	}
	if gate.SlowRead {
		m.Kind, m.Rows, gate.SlowRead = mRows, w.held(gate.Epoch), false
		w.send(m)
		return
	}
	gate.Session.Held(m.Seq, w.held(gate.Epoch))
}

// answer sends the answer to the newest poll, for the first time or again.
func (c *config) answer(w *World, g int) error {
	gate := &w.Gates[g]
	first := gate.Waiting
	gate.Waiting = false
	a := gate.Session.Answer()
	if gate.Claims > gate.Free {
		return fmt.Errorf("%d runs were claimed for %d free slots", gate.Claims, gate.Free)
	}
	if c.seed == seedAck {
		a.Runs = gate.untaken(a, first)
	}
	if c.seed == seedLease {
		a.LeaseSeq, a.Lease = a.Seq, timing.Lease
	}
	if p := gate.Caller; w.Procs[p].Life == gate.CallerLife {
		w.send(Msg{Kind: mAnswer, Proc: p, Life: gate.CallerLife, Epoch: gate.Epoch, Answer: answerOf(a)})
	}
	return nil
}

// untaken leaves out what former answers up to the acknowledged one delivered.
func (g *Gate) untaken(a delivery.Answer, first bool) (out []delivery.Run) {
	for _, r := range a.Runs {
		if !slices.ContainsFunc(g.Gave, func(x given) bool { return x.attempt == r.Attempt && x.seq <= g.Ack }) {
			out = append(out, r)
		}
		if first {
			g.Gave = append(slices.Clip(g.Gave), given{a.Seq, r.Attempt})
		}
	}
	return out
}

func pollOf(p attempts.Poll) delivery.Poll {
	out := delivery.Poll{
		Epoch: p.Epoch, Seq: p.Seq, Ack: p.Ack, Free: entity.Slots(p.Free), Stopping: p.Stopping,
	}
	for _, a := range p.Running {
		out.Running = append(out.Running, delivery.Attempt(a))
	}
	return out
}

func answerOf(a delivery.Answer) attempts.Answer {
	out := attempts.Answer{Seq: a.Seq, LeaseSeq: a.LeaseSeq, Lease: a.Lease, Hold: a.Hold}
	for _, r := range a.Runs {
		out.Runs = append(out.Runs, attempts.Run{Attempt: attempts.Attempt(r.Attempt)})
	}
	for _, s := range a.Cancel {
		out.Cancel = append(out.Cancel, attempts.Stop{Attempt: attempts.Attempt(s.Attempt), Reason: string(s.Reason)})
	}
	return out
}
