package running

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// missesUntilLost is how many reconciliations in a row must disagree before a
// run counts as lost: between the commit of a claim and its start, and between
// an end and its commit, one look may see a difference that is none.
const missesUntilLost = 2

// orphanCandidate is of an attempt that the store says runs here, and that does not.
type orphanCandidate struct {
	token  int64
	misses int
}

// Reconcile compares the executions that the store says run on this node with what
// really runs (engine rule 9): executions of a former life, and executions unknown here at
// two looks, count as lost; runs whose execution is final or in other hands are
// stopped; cancel requests are passed on.
func (t *TaskManager) Reconcile(ctx context.Context) error {
	execs, err := t.Claims.Held(ctx, t.cfg.NodeID)
	if err != nil {
		return fmt.Errorf("read the runs held by this node: %w", err)
	}
	held := make(map[string]*entity.Execution, len(execs))
	var lost []*entity.Execution
	epoch := t.epoch.Load()
	t.mu.Lock()
	suspects := map[string]orphanCandidate{}
	for _, exec := range execs {
		held[exec.ID] = exec
		switch a := t.runs[exec.ID]; {
		case exec.Epoch < epoch:
			lost = append(lost, exec)
		case exec.Epoch > epoch:
			// A newer life of this node id holds it; this process is the zombie.
		case t.expected[exec.ID] == exec.Token && exec.Token > 0:
			// Its transaction is committed, and who sent it does not know yet.
		case a == nil || a.run.Execution.Token != exec.Token:
			s := orphanCandidate{token: exec.Token, misses: 1}
			if former := t.orphans[exec.ID]; former.token == exec.Token {
				s.misses += former.misses
			}
			if s.misses >= missesUntilLost {
				lost = append(lost, exec)
				continue
			}
			suspects[exec.ID] = s
		case exec.CancelRequested:
			if a.stopReason == entity.ReasonNone {
				a.stopReason = exec.Reason
			}
			a.cancel(entity.ErrStopCancel)
		}
	}
	t.orphans = suspects
	for id, a := range t.runs {
		if exec := held[id]; exec != nil && exec.Token == a.run.Execution.Token {
			a.missing = 0
			continue
		}
		if a.missing++; a.missing >= missesUntilLost {
			a.cancel(entity.ErrStopLost)
		}
	}
	t.mu.Unlock()
	return t.recover(ctx, lost)
}

// recover ends attempts of a node that is gone, or has no memory of them. Each is
// known by its token: until it is read in full, the node may be back and at work
// on the next attempt.
func (t *TaskManager) recover(ctx context.Context, lost []*entity.Execution) error {
	if len(lost) == 0 {
		return nil
	}
	execs, err := t.Executions.ByIDs(ctx, entity.IDsOf(lost))
	if err != nil {
		return fmt.Errorf("read lost runs: %w", err)
	}
	jobs, err := t.Jobs.For(ctx, execs)
	if err != nil {
		return fmt.Errorf("load the jobs of lost runs: %w", err)
	}
	known := entity.ByID(lost)
	for _, exec := range execs {
		if exec.Status != entity.StatusRunning || exec.Token != known[exec.ID].Token || t.runsHere(exec) ||
			!t.beginRecovery(exec) {
			continue
		}
		job := entity.JobOf(exec, jobs)
		outcome := entity.Failed(entity.ReasonNodeLost, "the node that ran this attempt is gone")
		outcome.Checkpoint, outcome.Progress = exec.Checkpoint, exec.Progress
		if exec.CancelRequested {
			outcome = entity.Outcome{Status: entity.StatusCancelled, Reason: exec.Reason}
		}
		t.Metrics.Recovered(1)
		t.Logger.Warn("a run was lost with its node", "execution", exec.ID, "job", exec.JobID,
			"epoch", exec.Epoch, "attempt", exec.Attempt)
		t.endWithoutRun(entity.Run{Job: job, Execution: exec}, outcome, entity.Slots{})
	}
	return nil
}

func (t *TaskManager) runsHere(exec *entity.Execution) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.runs[exec.ID]
	return a != nil && a.run.Execution.Token == exec.Token && exec.Epoch == t.epoch.Load()
}

// beginRecovery notes that the end of a lost attempt is on its way to the
// store; false when it is already.
func (t *TaskManager) beginRecovery(exec *entity.Execution) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.recovering[exec.ID] == exec.Token {
		return false
	}
	t.recovering[exec.ID] = exec.Token
	return true
}
