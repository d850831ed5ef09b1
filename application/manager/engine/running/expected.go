package running

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Expect implements direct.Runner: a transaction that is about to be committed
// holds the executions for this node. Until Start or Forget they are not taken for
// lost, however long the answer of the store takes (engine rule 9).
func (t *TaskManager) Expect(execs []*entity.Execution) {
	if len(execs) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, exec := range execs {
		t.expected[exec.ID] = exec.Token
	}
}

// Forget implements direct.Runner: those of the executions that were not started will
// not be. Reconcile finds what the store holds of them.
func (t *TaskManager) Forget(execs []*entity.Execution) {
	if len(execs) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, exec := range execs {
		if t.expected[exec.ID] == exec.Token {
			delete(t.expected, exec.ID)
		}
	}
}

// takeExpected returns those of the runs that may start: an attempt that nobody
// expects any more may be in other hands. The caller holds the lock.
func (t *TaskManager) takeExpected(runs []entity.Run) []entity.Run {
	accepted := runs[:0:len(runs)]
	for _, run := range runs {
		e := run.Execution
		if token, ok := t.expected[e.ID]; !ok || token != e.Token {
			t.Logger.Warn("an attempt does not start, because it counts as lost", "execution", e.ID, "token", e.Token)
			continue
		}
		delete(t.expected, e.ID)
		accepted = append(accepted, run)
	}
	return accepted
}
