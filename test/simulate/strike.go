package simulate

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/answer"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// blow carries out one fault. Where the node is down, or already disturbed so, nothing happens.
func (w *world) blow(ctx context.Context, b blow) {
	f := b.fault()
	members := w.members
	if b.node >= 0 {
		members = members[b.node : b.node+1]
		f.Node = members[0].id
	}
	if b.node >= 0 && members[0].up() == nil && b.family() != "clock" {
		return
	}
	switch b.family() {
	case "process":
		w.process(ctx, b, f, members[0])
	case "silence":
		w.silence(b, f, members)
	case "clock":
		w.clock(b, f, members[0])
	case "store clock":
		w.storeClock(b, f)
	case "receiver":
		end := w.open(f)
		w.receiver.answer(b.kind == Deaf, map[Kind]time.Duration{Slow: 12 * time.Second}[b.kind])
		time.Sleep(b.lasts)
		w.receiver.answer(false, 0)
		end()
		w.count(b.kind)
	default:
		w.answer(b, f, members)
	}
}

// process is done to the process of a node; a supervisor starts it again.
func (w *world) process(ctx context.Context, b blow, f history.Fault, m *member) {
	l := m.up()
	switch b.kind {
	case Freeze:
		end := w.open(f)
		l.clock.freeze()
		time.Sleep(b.lasts)
		l.clock.thaw()
		end()
	case Kill:
		if !m.down(l) {
			return
		}
		end := w.open(f)
		m.kill(l)
		time.Sleep(b.lasts)
		w.revive(ctx, m)
		end()
	case KillInside:
		l.gate.strike(rand.New(rand.NewPCG(b.seed, 1))) //nolint:gosec // a seed that can be repeated is the point
		select {
		case <-l.gate.gone: // died counts it
		case <-time.After(b.lasts + strikes):
			l.gate.spare()
		}
		return
	case Restart:
		if !m.down(l) {
			return
		}
		end := w.open(f)
		asked := time.Now()
		code := m.stop(l)
		w.exit(history.Exit{Node: m.id, At: asked, Code: code}, "it was stopped")
		end()
		f.Harm = history.HarmGone
		end = w.open(f)
		w.revive(ctx, m)
		end()
	case Drain:
		w.drain(ctx, b, f, m)
	}
	w.count(b.kind)
}

// strikes is how long a node may take beyond its time to come to the statement at which it dies.
const strikes = 5 * time.Second

// died follows the death of a node inside of a transaction.
func (m *member) died(l *life) {
	if !m.down(l) {
		return
	}
	w := m.w
	w.ending.Go(func() {
		end := w.open(history.Fault{Kind: string(KillInside), Harm: history.HarmDeath, Node: m.id})
		m.end(l)
		time.Sleep(time.Second)
		w.revive(context.Background(), m)
		end()
		w.count(KillInside)
	})
}

// gone follows the end of a node that ended by itself.
func (w *world) gone(m *member, l *life) {
	if !m.down(l) {
		return
	}
	end := w.open(history.Fault{Kind: "a node ended by itself", Harm: history.HarmDeath, Node: m.id})
	m.kill(l)
	w.revive(context.Background(), m)
	end()
}

func (w *world) revive(ctx context.Context, m *member) {
	if err := m.start(ctx); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = err
	}
}

// drain keeps a node from new runs, and lets it go on.
func (w *world) drain(ctx context.Context, b blow, f history.Fault, m *member) {
	random := rand.New(rand.NewPCG(b.seed, 2)) //nolint:gosec // a seed that can be repeated is the point
	ask := func(call func(l *life) error) {
		for range 100 {
			if _, l := w.any(random); l != nil && call(l) == nil {
				return
			}
			time.Sleep(500 * ms)
		}
	}
	end := w.open(f)
	ask(func(l *life) error { _, err := l.Nodes.Drain(ctx, m.id); return err })
	time.Sleep(b.lasts)
	ask(func(l *life) error { _, err := l.Nodes.Resume(ctx, m.id); return err })
	end()
}

func (w *world) silence(b blow, f history.Fault, members []*member) {
	end := w.open(f)
	var ends []func()
	for _, m := range members {
		if l := m.up(); l != nil {
			ends = append(ends, l.gate.silence())
			l.alone.Store(b.kind == CutOff)
			ends = append(ends, func() { l.alone.Store(false) })
		}
	}
	time.Sleep(b.lasts)
	for _, speak := range ends {
		speak()
	}
	end()
	w.count(b.kind)
}

func (w *world) clock(b blow, f history.Fault, m *member) {
	l := m.up()
	if l == nil {
		return
	}
	end := w.open(f)
	if b.kind == NodeDrift {
		l.clock.drift(b.ppm)
	} else {
		l.clock.step(b.jump)
		time.Sleep(b.lasts)
		l.clock.step(-b.jump)
	}
	end()
	w.count(b.kind)
}

// storeClock is wrong for a while; a drift goes the other way then.
func (w *world) storeClock(b blow, f history.Fault) {
	end := w.open(f)
	defer w.count(b.kind)
	defer end()
	if b.kind == StoreDrift {
		w.store.drift(b.ppm)
		time.Sleep(b.lasts)
		w.store.drift(-b.ppm)
		time.Sleep(b.lasts)
		w.store.drift(0)
		return
	}
	s := history.Step{By: b.step, From: time.Now()}
	w.reached()
	w.store.step(b.step)
	s.Seen = time.Now()
	time.Sleep(b.lasts)
	w.reached()
	s.Back = time.Now()
	w.store.step(-b.step)
	s.Until = time.Now()
	w.mu.Lock()
	w.steps = append(w.steps, s)
	w.mu.Unlock()
	time.Sleep(max(b.step, 0)) // what is due now was done while the clock was ahead
}

// reached notes how far the store's clock has come, and returns the latest time that it has shown.
func (w *world) reached() time.Time {
	now := w.store.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.After(w.highest) {
		w.highest = now
	}
	return w.highest
}

// answer answers in the stead of the store.
func (w *world) answer(b blow, f history.Fault, members []*member) {
	rule := answer.Rule{Place: b.place, Err: b.err.err}
	if b.once() {
		rule.Times = 1
	}
	if b.err.row {
		rule.Match = answer.Of(w.firing(b.seed, b.err.lies).ID)
	}
	end := w.open(f)
	var rules []*answer.Store
	for _, m := range members {
		if l := m.up(); l != nil {
			r := rule
			l.rules.Set(&r)
			rules = append(rules, l.rules)
		}
	}
	given := func() (n int) {
		for _, r := range rules {
			n += r.Given()
		}
		return n
	}
	if b.err.row { // until its job is due
		for until := time.Now().Add(b.lasts - after); time.Now().Before(until) && given() == 0; {
			time.Sleep(200 * ms)
		}
		time.Sleep(after)
	} else {
		time.Sleep(b.lasts)
	}
	answered := given()
	for _, r := range rules {
		r.Set(nil)
	}
	end()
	if answered > 0 {
		w.count(b.kind)
	}
}

// after is how long an error about a job goes on after it was met.
const after = time.Second

// firing is a job that fires often; a lie is told of those whose rows may be refused.
func (w *world) firing(seed uint64, lies bool) *job {
	random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a seed that can be repeated is the point
	for {
		j := w.jobs[random.IntN(len(w.jobs))]
		if j.Refused && lies || !lies && !j.Refused && j.Step > 0 && j.Step <= 10*time.Second && !j.edited {
			return j
		}
	}
}
