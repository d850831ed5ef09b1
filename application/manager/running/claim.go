package running

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/outage"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// claimSweep is how often the store is asked for ready runs although nobody
// told of any: hints may be lost, states may not.
const claimSweep = time.Second

// claimLoop starts what waits in the store, as long as there are slots.
func (t *TaskManager) claimLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(0)
	defer timer.Stop()
	trouble := outage.New("claim", t.Clock, t.Logger)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C():
		}
		err := t.claimAll(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Note(err)
		timer.Reset(claimSweep)
	}
}

// claimAll claims until nothing is ready, waiting for slots where they are short.
func (t *TaskManager) claimAll(ctx context.Context) error {
	for ctx.Err() == nil {
		more, err := t.claimOnce(ctx)
		if err != nil || !more {
			return err
		}
		full := t.slots.full()
		if full == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-full:
		}
	}
	return ctx.Err()
}

// claimOnce takes one batch of ready runs; more says that others may be ready.
func (t *TaskManager) claimOnce(ctx context.Context) (more bool, err error) {
	if !t.Lease.Holds() {
		return false, nil
	}
	asked := t.slots.newsOfBacklog()
	queues, err := t.queues(ctx)
	if err != nil {
		return false, err
	}
	if len(queues) == 0 {
		t.slots.clearBacklog(asked)
		return false, nil
	}
	t.slots.setBacklog()
	asked = t.slots.newsOfBacklog()
	reserved := t.slots.reserveForClaim(t.cfg.BatchSize)
	if reserved == 0 {
		return !t.isClosed(), nil
	}
	rows, err := t.claimRows(ctx, reserved, queues)
	if err != nil {
		t.slots.release(reserved)
		return false, err
	}
	started, err := t.startClaimed(ctx, rows)
	t.slots.release(reserved - started)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 || len(rows) < reserved && len(queues) == 1 {
		t.slots.clearBacklog(asked)
		return false, nil
	}
	return true, nil
}

func (t *TaskManager) isClosed() bool {
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	return t.slots.closed()
}

// claimRows runs the claim transaction. When its commit was not answered the
// rows are read again, and those that carry this node, epoch and token are
// claimed (engine rule 9).
func (t *TaskManager) claimRows(ctx context.Context, limit int, queues []entity.Queue) ([]*entity.Execution, error) {
	var rows []*entity.Execution
	epoch := t.epoch.Load()
	err := t.Store.Write(ctx, repository.LaneComplete, "claim", func(ctx context.Context, tx repository.Tx) error {
		t.Forget(rows) // of a try that was rolled back
		var err error
		rows, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
			NodeID: t.cfg.NodeID, Epoch: epoch, Limit: limit, Now: t.StoreClock.Now(), Queues: queues,
		})
		if err == nil {
			t.Expect(rows)
		}
		return err
	})
	if err == nil {
		return rows, nil
	}
	if !errors.Is(err, repository.ErrCommitUnknown) {
		t.Forget(rows)
		return nil, err
	}
	mine, err := t.reread(ctx, rows, epoch)
	t.Forget(slices.DeleteFunc(rows, func(row *entity.Execution) bool {
		return slices.ContainsFunc(mine, func(m *entity.Execution) bool { return m.ID == row.ID })
	}))
	return mine, err
}

// reread returns those of the rows that the store holds as this node's.
func (t *TaskManager) reread(ctx context.Context, rows []*entity.Execution, epoch int64) ([]*entity.Execution, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	stored, err := t.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	tokens := map[string]int64{}
	for _, row := range rows {
		tokens[row.ID] = row.Token
	}
	mine := stored[:0]
	for _, row := range stored {
		if row.Status == entity.StatusRunning && row.NodeID == t.cfg.NodeID &&
			row.Epoch == epoch && row.Token == tokens[row.ID] {
			mine = append(mine, row)
		}
	}
	return mine, nil
}

// startClaimed runs claimed rows by their jobs' current definitions. A run
// whose job was deleted meanwhile ends as CANCELLED(DELETED). It returns how
// many of the reserved slots are in use.
func (t *TaskManager) startClaimed(ctx context.Context, rows []*entity.Execution) (started int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.JobID
	}
	jobs, err := t.Jobs.Load(ctx, ids)
	if err != nil {
		// The rows are RUNNING here and will not start: the reconciliation
		// sends them back after two looks.
		t.Forget(rows)
		return 0, err
	}
	runs := make([]entity.Run, 0, len(rows))
	for _, row := range rows {
		if job := jobs[row.JobID]; job != nil {
			runs = append(runs, entity.Run{Job: job, Execution: row})
			continue
		}
		t.endWithoutRun(row, &entity.Job{ID: row.JobID}, entity.Outcome{
			Status: entity.StatusCancelled, Reason: entity.ReasonDeleted, Message: "the job was deleted",
		}, true)
		started++
	}
	t.Start(runs) //nolint:contextcheck // a run outlives the claim that found it
	return started + len(runs), nil
}

// endWithoutRun hands the end of a held row to the completers.
func (t *TaskManager) endWithoutRun(row *entity.Execution, job *entity.Job, o entity.Outcome, slot bool) {
	now := t.StoreClock.Now()
	start := row.StartTime
	if start.IsZero() {
		start = now
	}
	if !t.inFlight.enter(1) {
		return // the node has ended: its next life, or another node, ends the row
	}
	defer t.inFlight.leave()
	t.results <- &finished{
		run: entity.Run{Job: job, Execution: row}, outcome: o,
		start: start, end: now, took: max(now.Sub(start), 0), slot: slot,
	}
}
