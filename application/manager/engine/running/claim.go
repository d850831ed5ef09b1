package running

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/storeretry"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// claimInterval is how often the store is asked for ready runs although nobody
// told of any: notifications may be lost, states may not.
const claimInterval = time.Second

// claimLoop starts what waits in the store, as long as there are slots.
func (t *TaskManager) claimLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(0)
	defer timer.Stop()
	trouble := faillog.OfTask("claim", t.Clock, t.Logger)
	var freed <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C():
		case <-freed:
		}
		err := batch.Guard(func() error { return t.claimAll(ctx) })
		if ctx.Err() != nil {
			return
		}
		trouble.Observe(err)
		freed = nil
		if err == nil && t.Lease.Holds() { // without one a free slot changes nothing
			freed = t.slots.Freed()
		}
		timer.Reset(claimInterval)
	}
}

// claimAll claims until nothing is ready that the node has slots for.
func (t *TaskManager) claimAll(ctx context.Context) error {
	for ctx.Err() == nil {
		more, err := t.claimOnce(ctx)
		if err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// claimOnce takes one batch of ready runs of each kind of slots that asks for
// them; more says that others may be ready.
func (t *TaskManager) claimOnce(ctx context.Context) (more bool, err error) {
	if !t.Lease.Holds() {
		return false, nil
	}
	var wanted [len(entity.Slots{})]bool
	var asked [len(entity.Slots{})]int
	for _, kind := range entity.SlotKinds() {
		wanted[kind], asked[kind] = t.slots.WantsClaim(kind), t.slots.BacklogGeneration(kind)
	}
	queues, err := t.queues(ctx, wanted)
	if err != nil {
		return false, err
	}
	for _, kind := range entity.SlotKinds() {
		if !wanted[kind] {
			continue
		}
		if len(queues[kind]) == 0 {
			t.slots.ClearBacklog(kind, asked[kind])
			continue
		}
		again, err := t.claimKind(ctx, kind, queues[kind])
		if err != nil {
			return false, err
		}
		more = more || again
	}
	return more, nil
}

// claimKind takes one batch of runs of the queues, for slots of one kind. A claim
// that has begun is finished although ctx ends, and a drain waits for it, or what it
// has claimed would neither run here nor be given back (engine rule 28).
func (t *TaskManager) claimKind(ctx context.Context, kind entity.SlotKind,
	queues []entity.Queue,
) (more bool, err error) {
	if !t.inFlight.enter(1) {
		return false, nil
	}
	defer t.inFlight.leave()
	working, ctx := ctx, context.WithoutCancel(ctx)
	t.slots.SetBacklog(kind)
	asked := t.slots.BacklogGeneration(kind)
	reserved := t.slots.ReserveForClaim(kind, t.cfg.BatchSize)
	if reserved == 0 {
		return false, nil
	}
	var execs []*entity.Execution
	refused := batch.Guard(func() (err error) {
		execs, err = t.claimBatch(ctx, working, reserved, queues)
		return err
	})
	t.passed.forget(execs)
	used, err := t.startClaimed(ctx, working, kind, execs)
	t.giveBack(kind, reserved-used)
	if err = errors.Join(refused, err); err != nil {
		return false, err
	}
	if len(execs) == 0 || len(execs) < reserved && len(queues) == 1 {
		t.slots.ClearBacklog(kind, asked)
		return false, nil
	}
	return true, nil
}

func (t *TaskManager) giveBack(kind entity.SlotKind, n int) {
	var given entity.Slots
	given[kind] = n
	t.slots.Release(given)
}

// claimBatch takes up to limit runs of the queues. Where the store refuses them, it takes them in parts, until the
// refused run is alone. Claims pass over that run for a while, so that it holds up no run behind it (engine rule 10).
// claimBatch returns taken runs beside an error, too.
func (t *TaskManager) claimBatch(ctx, working context.Context, limit int,
	queues []entity.Queue,
) (taken []*entity.Execution, err error) {
	r := repository.ClaimRequest{NodeID: t.cfg.NodeID, Epoch: t.epoch.Load(), Limit: limit, Queues: queues}
	r.Except = t.passed.now()
	var met []*entity.Execution
	err = batch.Guard(func() error {
		taken, met, err = t.claim(ctx, working, r)
		return err
	})
	if err == nil || len(met) == 0 || batch.Passes(err) {
		return taken, err
	}
	if len(met) == 1 {
		if taken = t.claimBeyond(ctx, working, r, met[0], err); len(taken) > 0 {
			return taken, nil
		}
		t.passed.rest(met[0])
	}
	r.Except = nil
	return taken, batch.Walk(t.blame, met, func(e *entity.Execution) string { return e.ID },
		func(part []*entity.Execution) error {
			r.Only = entity.IDsOf(part)
			got, _, err := t.claim(ctx, working, r)
			taken = append(taken, got...)
			return err
		}, func(exec *entity.Execution, cause error) error {
			t.passed.add(exec, cause)
			return nil
		})
}

// claimBeyond takes a run behind a refused one where there was a slot for one alone. Otherwise no other run could be
// the witness against it.
func (t *TaskManager) claimBeyond(ctx, working context.Context, r repository.ClaimRequest, met *entity.Execution,
	cause error,
) []*entity.Execution {
	r.Except = append(r.Except, met.ID)
	var taken []*entity.Execution
	err := batch.Guard(func() (err error) {
		taken, _, err = t.claim(ctx, working, r)
		return err
	})
	if err == nil && len(taken) > 0 {
		t.passed.witnessed(met, cause)
	}
	return taken
}

// claim runs a claim transaction. When its commit was not answered the executions are read again, and those that carry
// this node, epoch and token are claimed (engine rule 9). It repeats reads without an answer until working ends. met
// are the runs that an error met.
func (t *TaskManager) claim(ctx, working context.Context, r repository.ClaimRequest) (
	taken, met []*entity.Execution, err error,
) {
	var execs []*entity.Execution
	err = t.Store.Write(ctx, repository.LaneComplete, "claim", func(ctx context.Context, tx repository.Tx) error {
		t.Forget(execs) // of a try that was rolled back
		execs = nil
		r.Now = t.StoreClock.Now()
		found, err := tx.Executions.Claim(ctx, r)
		if met = found; err == nil {
			execs = found
			t.Expect(execs)
		}
		return err
	})
	if err == nil {
		return execs, nil, nil
	}
	if !errors.Is(err, repository.ErrCommitUnknown) {
		t.Forget(execs)
		return nil, met, err
	}
	var mine []*entity.Execution
	err = storeretry.Read(working, t.Clock, func() (err error) {
		mine, err = t.reread(ctx, execs)
		return err
	})
	t.Forget(slices.DeleteFunc(execs, func(exec *entity.Execution) bool {
		return slices.ContainsFunc(mine, func(m *entity.Execution) bool { return m.ID == exec.ID })
	}))
	return mine, nil, err
}

// reread returns those of the executions that the store holds as this node's.
func (t *TaskManager) reread(ctx context.Context, execs []*entity.Execution) ([]*entity.Execution, error) {
	stored, err := t.Executions.ByIDs(ctx, entity.IDsOf(execs))
	if err != nil {
		return nil, err
	}
	claimed := entity.ByID(execs)
	mine := slices.DeleteFunc(stored, func(exec *entity.Execution) bool { return !exec.HeldAs(claimed[exec.ID]) })
	for _, exec := range mine {
		exec.Parent, exec.Holds = claimed[exec.ID].Parent, claimed[exec.ID].Holds // no other read has them
	}
	return mine, nil
}

// startClaimed runs claimed executions by their jobs' current definitions. A run
// whose job was deleted meanwhile ends as CANCELLED(DELETED), and one that this
// node cannot run is put back. It returns how many of the reserved slots of the
// kind are in use. Definitions that cannot be read are read again until working
// ends: the executions are this node's, and nobody else can start them.
func (t *TaskManager) startClaimed(ctx, working context.Context, kind entity.SlotKind,
	execs []*entity.Execution,
) (used int, err error) {
	if len(execs) == 0 {
		return 0, nil
	}
	var jobs entity.Definitions
	err = storeretry.Read(working, t.Clock, func() (err error) {
		jobs, err = t.Jobs.For(ctx, execs)
		return err
	})
	if err != nil {
		// The executions are RUNNING here and will not start: the reconciliation
		// sends them back after two looks.
		t.Forget(execs)
		return 0, err
	}
	runs := make([]entity.Run, 0, len(execs))
	for _, exec := range execs {
		run := entity.Run{Job: entity.JobOf(exec, jobs), Execution: exec}
		if jobs.Of(exec) == nil {
			t.endWithoutRun(run, entity.Outcome{
				Status: entity.StatusCancelled, Reason: entity.ReasonDeleted,
				Message: "the job was deleted",
			}, slotOf(kind))
			continue
		}
		if why := cmp.Or(unreadable(run.Job, exec), notForNodes(run.Job)); why != "" {
			t.endWithoutRun(run, invalid(why), slotOf(kind))
			continue
		}
		if why := t.cannotRun(run.Job, kind); why != "" {
			t.endWithoutRun(run, entity.NotBegun(putBackWait, why), slotOf(kind))
			continue
		}
		runs = append(runs, run)
	}
	t.Start(runs) //nolint:contextcheck // a run outlives the claim that found it
	return len(execs), nil
}

// unreadable says what of a run or its definition cannot be read; empty is
// nothing.
func unreadable(job *entity.Job, exec *entity.Execution) string {
	if why := job.Unreadable(); why != "" {
		return "what the store holds of its job cannot be read: " + why
	}
	if exec.Unreadable != "" {
		return "what the store holds of the run cannot be read: " + exec.Unreadable
	}
	return ""
}

// invalid is the end of a run that cannot begin, and would not on another try.
func invalid(why string) entity.Outcome {
	o := entity.Failed(entity.ReasonInvalid, why)
	o.NoRetry = true
	return o
}

// endWithoutRun hands the end of a held execution to the completers; slots are those
// that it holds.
func (t *TaskManager) endWithoutRun(run entity.Run, o entity.Outcome, held entity.Slots) {
	now := t.StoreClock.Now()
	start := run.Execution.StartTime
	if start.IsZero() {
		start = now
	}
	if !t.inFlight.enter(1) {
		return // the node has ended: its next life, or another node, ends the execution
	}
	defer t.inFlight.leave()
	t.Ends.Add(&completion.Result{
		Run: run, Outcome: o, Start: start, End: now, Took: max(now.Sub(start), 0), Slots: held,
	})
}
