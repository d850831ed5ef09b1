package running

// completeLoop stores ends in batches: whatever has ended while the former
// batch was being stored. It ends when the results are closed and stored.
func (t *TaskManager) completeLoop() {
	for items := t.nextBatch(); len(items) > 0; items = t.nextBatch() {
		t.persistResults(items)
	}
}

// nextBatch takes what has ended, and waits for the first; nothing comes when the
// results are closed. A commit costs the same for one end as for many, and takes
// the store from the fires that are due: while nothing presses, a batch waits a
// little for more. Completers gather one at a time, or they would share the few.
func (t *TaskManager) nextBatch() []*attemptResult {
	t.batching.Lock()
	defer t.batching.Unlock()
	first, ok := <-t.results
	if !ok {
		return nil
	}
	items := append(make([]*attemptResult, 0, t.cfg.BatchSize), first)
	linger := t.Clock.NewTimer(t.cfg.Linger)
	defer linger.Stop()
	for pressing := t.urgent(first); len(items) < t.cfg.BatchSize; {
		if pressing && len(t.results) == 0 {
			break
		}
		select {
		case f, ok := <-t.results:
			if !ok {
				return items
			}
			items, pressing = append(items, f), pressing || t.urgent(f)
		case <-linger.C():
			pressing = true
		}
	}
	return items
}

// urgent: somebody waits for the slot on the node or for the slot of the fire, or the node
// is on its way down.
func (t *TaskManager) urgent(f *attemptResult) bool {
	return t.cfg.Linger <= 0 || f.run.Job.Coordinated() || !t.slots.hasSpare(t.kindOf(f.run.Job))
}
