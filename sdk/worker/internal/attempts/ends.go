package attempts

import "slices"

// End notes that the handler of an attempt has ended. The slot stays taken until the receipt.
func (l *Life) End(a Attempt, status string) {
	if i := l.find(a); i >= 0 && l.holds[i].status == "" {
		l.holds = slices.Clone(l.holds)
		l.holds[i].status = status
	}
}

// Ends are those without a receipt, oldest first. A life that is over has none.
func (l *Life) Ends() (out []End) {
	if l.over {
		return nil
	}
	for _, h := range l.holds {
		if h.status != "" {
			out = append(out, End{h.Attempt, h.status})
		}
	}
	return out
}

// Receipts takes the receipts of a report. Each but RETRY frees the slot, and the attempt is remembered for
// two leases: an answer that still delivers it was late.
func (l *Life) Receipts(receipts []Receipt, now Instant) {
	for _, r := range receipts {
		i := l.find(r.Attempt)
		if i < 0 || r.Kind == Retry || l.holds[i].status == "" {
			continue
		}
		l.holds = slices.Delete(slices.Clone(l.holds), i, i+1)
		l.remember(Memory{r.Attempt, now + memory*Instant(l.lease)})
	}
}

// Stop makes the worker drain: it begins nothing more, and its polls say so.
func (l *Life) Stop() { l.stopping = true }

// Leave ends the life of a worker that drains and holds nothing, so that it may say so; false before.
func (l *Life) Leave() (epoch int64, ok bool) {
	if l.over || !l.stopping || len(l.holds) > 0 {
		return 0, false
	}
	l.over = true
	return l.epoch, true
}

// Epoch is what each message of this life names.
func (l *Life) Epoch() int64 { return l.epoch }

// Working are the attempts whose handlers run.
func (l *Life) Working() (out []Attempt) {
	for _, h := range l.holds {
		if h.status == "" {
			out = append(out, h.Attempt)
		}
	}
	return out
}

func (l *Life) find(a Attempt) int {
	return slices.IndexFunc(l.holds, func(h hold) bool { return h.Attempt == a })
}

func (l *Life) knows(a Attempt) bool {
	if l.index != nil {
		return l.find(a) >= 0 || l.index[a]
	}
	return l.find(a) >= 0 || slices.ContainsFunc(l.Ended, func(m Memory) bool { return m.Attempt == a })
}

// Own says that this life is never copied. It may then change its memory of ended attempts in place and find them by
// an index: a busy worker remembers a hundred thousand of them.
func (l *Life) Own() {
	l.index = map[Attempt]bool{}
	for _, m := range l.Ended {
		l.index[m.Attempt] = true
	}
}

func (l *Life) remember(m Memory) {
	if l.index == nil {
		l.Ended = append(slices.Clip(l.Ended), m)
		return
	}
	l.Ended = append(l.Ended, m)
	l.index[m.Attempt] = true
}

// forget drops what need not be remembered any more. A life that is never copied looks at the oldest alone: a lease
// never gets shorter, so they are in order.
func (l *Life) forget(now Instant) {
	if l.index == nil {
		l.Ended = slices.DeleteFunc(slices.Clone(l.Ended), func(m Memory) bool { return m.Until <= now })
		return
	}
	for len(l.Ended) > 0 && l.Ended[0].Until <= now {
		delete(l.index, l.Ended[0].Attempt)
		l.Ended = l.Ended[1:]
	}
}
