package completion

import "time"

// stepLinger is the wait where a workflow run goes on by one of the ends. An end waits for others as long as a
// transaction pays for, and each edge of a graph would add that.
const stepLinger = 2 * time.Millisecond

// completeLoop stores ends in batches: whatever has ended while the former
// batch was being stored. It ends when the results are closed and stored.
func (m *Completer) completeLoop() {
	for items := m.nextBatch(); len(items) > 0; items = m.nextBatch() {
		m.persistResults(items)
	}
}

// nextBatch takes what has ended, and waits for the first; nothing comes when the
// results are closed. A commit costs the same for one end as for many, and takes
// the store from the fires that are due: while no end is urgent, a batch waits a
// little for more. Completers collect one at a time, or they would share the few.
func (m *Completer) nextBatch() []*Result {
	m.batching.Lock()
	defer m.batching.Unlock()
	first, ok := <-m.results
	if !ok {
		return nil
	}
	items := append(make([]*Result, 0, m.cfg.BatchSize), first)
	soon := first.followed()
	wait := m.cfg.Linger
	if soon {
		wait = min(wait, stepLinger)
	}
	linger := m.Clock.NewTimer(wait)
	defer linger.Stop()
	for pressing := m.urgent(first); len(items) < m.cfg.BatchSize; {
		if pressing && len(m.results) == 0 {
			break
		}
		select {
		case f, ok := <-m.results:
			if !ok {
				return items
			}
			items, pressing = append(items, f), pressing || m.urgent(f)
			if f.followed() && !soon {
				soon = true
				linger.Reset(min(m.cfg.Linger, stepLinger))
			}
		case <-linger.C():
			pressing = true
		}
	}
	return items
}

// followed: a workflow run goes on by the end, or begins.
func (f *Result) followed() bool { return f.Outcome.Opens() || f.Run.Execution.IsStep() }

// urgent: somebody waits for the slot on the node or for the slot of the fire, or the node
// is on its way down.
func (m *Completer) urgent(f *Result) bool {
	return m.cfg.Linger <= 0 || f.Run.Job.Coordinated() || f.report == nil && !m.Node.HasSpare(f.Run.Job)
}
