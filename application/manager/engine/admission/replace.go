package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// stepLimit bounds the fires of one job that one transaction lets start or ends
// (engine rule 16): who comes next, or the sweep, goes on. A store with one
// writer has fires to write meanwhile (engine rule 31).
const stepLimit = 200

// endQueuedFires ends queued fires that a newer one takes the place of. After an edit
// there may be more of them than one transaction should end; the sweep does the
// rest.
func endQueuedFires(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, live *Live,
	a *Admission,
) error {
	for _, b := range live.addedAs(false) {
		if err := a.withdraw(live, b, now); err != nil {
			return err
		}
	}
	ended, err := endQueued(ctx, tx, now, job, stepLimit, &a.PostCommit)
	if err != nil {
		return err
	}
	live.queued, live.counted = 0, true
	if ended == stepLimit {
		live.first, live.counted = job.FenceSeq, false
	}
	return nil
}

// endQueued ends the first queued fires of a job because of a newer one, and
// returns how many.
func endQueued(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, limit int,
	e *commit.PostCommit,
) (int, error) {
	fires, err := tx.InFlightFires.Oldest(ctx, []repository.Oldest{{JobID: job.ID, Limit: limit}})
	if err != nil || len(fires) == 0 {
		return 0, err
	}
	fires, execs, err := lockQueued(ctx, tx, fires)
	if err != nil {
		return 0, err
	}
	for _, exec := range execs {
		if err := exec.Skip(entity.ReasonReplaced, now); err != nil {
			return 0, err
		}
	}
	if err := tx.Executions.Close(ctx, execs); err != nil {
		return 0, fmt.Errorf("end %d replaced runs: %w", len(execs), err)
	}
	e.Closed = append(e.Closed, execs...)
	return len(fires), deleteFires(ctx, tx, fires)
}

// lockQueued locks the runs of queued fires. A fire of which somebody else holds
// a run is left out, and goes on waiting: it must not hold up the others (engine
// rule 10).
func lockQueued(ctx context.Context, tx repository.Tx,
	fires []entity.InFlightFire,
) (whole []entity.InFlightFire, execs []*entity.Execution, err error) {
	keys := make([]entity.ClaimKey, len(fires))
	for i, f := range fires {
		keys[i] = entity.QueuedKey(f.JobID, f.Seq)
	}
	locked, err := tx.Executions.TryLockAt(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the runs of %d queued fires: %w", len(fires), err)
	}
	of := make(map[fireID][]*entity.Execution, len(fires))
	for _, exec := range locked {
		if exec.Status == entity.StatusWaiting {
			id := fireID{exec.JobID, exec.FireKey}
			of[id] = append(of[id], exec)
		}
	}
	for _, f := range fires { // in their order: those that wait longest first
		if mine := of[fireID{f.JobID, f.FireKey}]; len(mine) == f.Remaining {
			whole, execs = append(whole, f), append(execs, mine...)
		}
	}
	return whole, execs, nil
}

// replace asks the runs of the n oldest active fires to stop; what has not
// started ends here, and a fire of which nothing runs leaves its slot at once.
func replace(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, live *Live, n int,
	a *Admission,
) error {
	fires, err := tx.InFlightFires.Oldest(ctx,
		[]repository.Oldest{{JobID: job.ID, Active: true, Limit: min(n, stepLimit)}})
	if err != nil {
		return fmt.Errorf("read the fires to be replaced: %w", err)
	}
	var ended, shrunk []entity.InFlightFire
	for _, f := range fires {
		closed, err := stopFire(ctx, tx, now, f, &a.PostCommit)
		if err != nil {
			return err
		}
		f.Remaining -= closed
		if f.Remaining <= 0 {
			ended = append(ended, f)
		} else if closed > 0 {
			shrunk = append(shrunk, f)
		}
	}
	live.active -= len(ended)
	born := live.addedAs(true)
	for _, b := range born[:min(max(n-len(fires), 0), len(born))] {
		if err := a.withdraw(live, b, now); err != nil {
			return err
		}
	}
	if len(shrunk) > 0 {
		if err := tx.InFlightFires.Update(ctx, shrunk); err != nil {
			return fmt.Errorf("shrink replaced fires: %w", err)
		}
	}
	if job.Limited && len(ended) > 0 {
		if err := tx.Groups.Release(ctx, ended); err != nil {
			return fmt.Errorf("give up the slots of replaced fires: %w", err)
		}
	}
	return deleteFires(ctx, tx, ended)
}

// stopFire ends the waiting and the detached executions of an active fire because of a
// newer one, asks those that run on a node to stop, and returns how many it ended.
func stopFire(ctx context.Context, tx repository.Tx, now time.Time, f entity.InFlightFire,
	e *commit.PostCommit,
) (closed int, err error) {
	execs, err := tx.InFlightFires.ExecutionsOf(ctx, f)
	if err != nil {
		return 0, fmt.Errorf("read the runs of fire %s: %w", f.FireKey, err)
	}
	var ended, detached, stopping []*entity.Execution
	for _, exec := range execs {
		switch {
		case exec.Detached(): // nobody holds it who could stop it
			if err := exec.Cancel(entity.ReasonReplaced, now); err != nil {
				return 0, err
			}
			if err := tx.Executions.Update(ctx, exec, entity.StatusRunning, exec.Token); err != nil {
				return 0, fmt.Errorf("end replaced run %s: %w", exec.ID, err)
			}
			detached = append(detached, exec)
		case exec.Status == entity.StatusWaiting:
			if err := exec.Skip(entity.ReasonReplaced, now); err != nil {
				return 0, err
			}
			ended = append(ended, exec)
		case !exec.CancelRequested:
			if err := exec.RequestCancel(entity.ReasonReplaced, now); err != nil {
				return 0, err
			}
			stopping = append(stopping, exec)
		}
	}
	if err := tx.Executions.Close(ctx, ended); err != nil {
		return 0, fmt.Errorf("end %d replaced runs: %w", len(ended), err)
	}
	if err := tx.Executions.AskToStop(ctx, stopping); err != nil {
		return 0, fmt.Errorf("ask %d replaced runs to stop: %w", len(stopping), err)
	}
	if err := tx.Todos.AddTodos(ctx, workflow.CancelTodos(stopping, now)); err != nil {
		return 0, fmt.Errorf("stop replaced workflow runs: %w", err)
	}
	ended = append(ended, detached...)
	e.Closed, e.Stopping = append(e.Closed, ended...), append(e.Stopping, stopping...)
	return len(ended), nil
}

// addedAs are the fires of this transaction that hold a slot, or wait for one.
func (l *Live) addedAs(active bool) []newFire {
	var out []newFire
	for _, b := range l.added {
		if b.inFlight.Active == active {
			out = append(out, b)
		}
	}
	return out
}

// withdraw ends a fire of this very transaction: a newer one replaces it before
// anything of it is stored.
func (a *Admission) withdraw(live *Live, b newFire, now time.Time) error {
	for _, exec := range b.execs {
		if err := exec.Skip(entity.ReasonReplaced, now); err != nil {
			return err
		}
	}
	same := func(f entity.InFlightFire) bool {
		return f.JobID == b.inFlight.JobID && f.FireKey == b.inFlight.FireKey
	}
	a.InFlightFires = slices.DeleteFunc(a.InFlightFires, same)
	live.added = slices.DeleteFunc(live.added, func(o newFire) bool { return same(o.inFlight) })
	if b.inFlight.Active {
		live.active--
	} else {
		live.queued--
	}
	a.PostCommit.Closed = append(a.PostCommit.Closed, b.execs...)
	return nil
}

func deleteFires(ctx context.Context, tx repository.Tx, fires []entity.InFlightFire) error {
	if len(fires) == 0 {
		return nil
	}
	if err := tx.InFlightFires.Delete(ctx, fires); err != nil {
		return fmt.Errorf("give up slots: %w", err)
	}
	return nil
}
