package running

// completeLoop stores ends in batches: whatever has ended while the former
// batch was being stored. It ends when the results are closed and stored.
func (t *TaskManager) completeLoop() {
	for items := t.gather(); len(items) > 0; items = t.gather() {
		t.settle(items)
	}
}

// gather takes what has ended, and waits for the first; nothing comes when the
// results are closed. A commit costs the same for one end as for many, and takes
// the store from the fires that are due: while nothing presses, a batch waits a
// little for more. Completers gather one at a time, or they would share the few.
func (t *TaskManager) gather() []*finished {
	t.gathering.Lock()
	defer t.gathering.Unlock()
	first, ok := <-t.results
	if !ok {
		return nil
	}
	items := append(make([]*finished, 0, t.cfg.BatchSize), first)
	linger := t.Clock.NewTimer(t.cfg.Linger)
	defer linger.Stop()
	for pressing := t.presses(first); len(items) < t.cfg.BatchSize; {
		if pressing && len(t.results) == 0 {
			break
		}
		select {
		case f, ok := <-t.results:
			if !ok {
				return items
			}
			items, pressing = append(items, f), pressing || t.presses(f)
		case <-linger.C():
			pressing = true
		}
	}
	return items
}

// presses: somebody waits for the slot or for the place of the run, or the node
// is on its way down.
func (t *TaskManager) presses(f *finished) bool {
	return t.cfg.Linger <= 0 || f.run.Job.Coordinated() || !t.slots.plenty(t.kindOf(f.run.Job))
}
