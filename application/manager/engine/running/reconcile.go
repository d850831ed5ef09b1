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

// Reconcile compares the rows that the store says run on this node with what
// really runs (engine rule 9): rows of a former life, and rows unknown here at
// two looks, count as lost; runs whose row is final or in other hands are
// stopped; cancel requests are passed on.
func (t *TaskManager) Reconcile(ctx context.Context) error {
	rows, err := t.Claims.Held(ctx, t.cfg.NodeID)
	if err != nil {
		return fmt.Errorf("read the runs held by this node: %w", err)
	}
	held := make(map[string]*entity.Execution, len(rows))
	var lost []*entity.Execution
	epoch := t.epoch.Load()
	t.mu.Lock()
	suspects := map[string]orphanCandidate{}
	for _, row := range rows {
		held[row.ID] = row
		switch a := t.runs[row.ID]; {
		case row.Epoch < epoch:
			lost = append(lost, row)
		case row.Epoch > epoch:
			// A newer life of this node id holds it; this process is the zombie.
		case t.expected[row.ID] == row.Token && row.Token > 0:
			// Its transaction is committed, and who sent it does not know yet.
		case a == nil || a.run.Execution.Token != row.Token:
			s := orphanCandidate{token: row.Token, misses: 1}
			if former := t.orphans[row.ID]; former.token == row.Token {
				s.misses += former.misses
			}
			if s.misses >= missesUntilLost {
				lost = append(lost, row)
				continue
			}
			suspects[row.ID] = s
		case row.CancelRequested:
			if a.stopReason == entity.ReasonNone {
				a.stopReason = row.Reason
			}
			a.cancel(entity.ErrStopCancel)
		}
	}
	t.orphans = suspects
	for id, a := range t.runs {
		if row := held[id]; row != nil && row.Token == a.run.Execution.Token {
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
	ids, tokens := make([]string, len(lost)), make(map[string]int64, len(lost))
	for i, row := range lost {
		ids[i], tokens[row.ID] = row.ID, row.Token
	}
	rows, err := t.Executions.ByIDs(ctx, ids)
	if err != nil {
		return fmt.Errorf("read lost runs: %w", err)
	}
	jobIDs := make([]string, len(rows))
	for i, row := range rows {
		jobIDs[i] = row.JobID
	}
	jobs, err := t.Jobs.Load(ctx, jobIDs)
	if err != nil {
		return fmt.Errorf("load the jobs of lost runs: %w", err)
	}
	for _, row := range rows {
		if row.Status != entity.StatusRunning || row.Token != tokens[row.ID] || t.runsHere(row) || !t.beginRecovery(row) {
			continue
		}
		job := jobs[row.JobID]
		if job == nil {
			job = &entity.Job{ID: row.JobID}
		}
		outcome := entity.Failed(entity.ReasonNodeLost, "the node that ran this attempt is gone")
		outcome.Checkpoint, outcome.Progress = row.Checkpoint, row.Progress
		if row.CancelRequested {
			outcome = entity.Outcome{Status: entity.StatusCancelled, Reason: row.Reason}
		}
		t.Metrics.Recovered(1)
		t.Logger.Warn("a run was lost with its node", "execution", row.ID, "job", row.JobID,
			"epoch", row.Epoch, "attempt", row.Attempt)
		t.endWithoutRun(entity.Run{Job: job, Execution: row}, outcome, entity.Slots{})
	}
	return nil
}

func (t *TaskManager) runsHere(row *entity.Execution) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.runs[row.ID]
	return a != nil && a.run.Execution.Token == row.Token && row.Epoch == t.epoch.Load()
}

// beginRecovery notes that the end of a lost attempt is on its way to the
// store; false when it is already.
func (t *TaskManager) beginRecovery(row *entity.Execution) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.recovering[row.ID] == row.Token {
		return false
	}
	t.recovering[row.ID] = row.Token
	return true
}
