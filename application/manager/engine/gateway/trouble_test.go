package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// another puts a gateway without memory in the place of the first.
func (r *rig) another() {
	r.gateway = r.newGateway(r.Node)
	r.run(r.gateway)
}

// said is what the store has of a run's log.
func (r *rig) said(id string) (lines []string) {
	r.t.Helper()
	chunks, err := r.Store.Records.Logs(r.t.Context(), repository.LogPage{ExecutionID: id, Limit: 100})
	require.NoError(r.t, err)
	for _, c := range chunks {
		lines = append(lines, c.Content)
	}
	return lines
}

// tell sends lines of a run that goes on, and returns the receipt.
func (w *remote) tell(d gateway.Delivery, from int64, lines ...string) gateway.Receipt {
	w.t.Helper()
	got := make(chan []gateway.Receipt, 1)
	go func() {
		receipts, err := w.gateway.Report(context.Background(), w.id, w.epoch, []gateway.Item{{
			Attempt: attemptOf(d), Number: d.Run.Execution.Attempt, LineFrom: from, Lines: lines, Progress: -1,
		}})
		if err != nil {
			w.t.Errorf("report: %v", err)
		}
		got <- receipts
	}()
	w.pass(func() bool { return len(got) > 0 }, "the report is answered")
	receipts := <-got
	require.Len(w.t, receipts, 1)
	return receipts[0]
}

// cancel asks a run to stop, as the service does.
func (r *rig) cancel(id string) {
	r.t.Helper()
	var asked []*entity.Execution
	r.Write(r.t, func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		asked = execs
		if err := execs[0].RequestCancel(entity.ReasonNone, r.Time.Now()); err != nil {
			return err
		}
		return tx.Executions.Update(ctx, execs[0], entity.StatusRunning, execs[0].Token)
	})
	r.Commits.AfterCommit(commit.PostCommit{Stopping: asked})
}

// allowSecrets lets the group have secrets.
func (r *rig) allowSecrets() { r.allow(func(g *worker.Group) { g.Secrets = true }) }

// allow changes the rights of the group.
func (r *rig) allow(change func(g *worker.Group)) {
	r.t.Helper()
	g, err := r.Store.WorkerGroups.WorkerGroup(r.t.Context(), group)
	require.NoError(r.t, err)
	change(&g)
	_, err = r.Store.WorkerGroups.PutWorkerGroup(r.t.Context(), g, nil)
	require.NoError(r.t, err)
}

func attemptOf(d gateway.Delivery) delivery.Attempt {
	return delivery.Attempt{Execution: d.Run.Execution.ID, Token: d.Run.Execution.Token}
}

// A worker sends lines again that the store may not have. A gateway that takes over reads how far the log goes.
func TestNoLineIsStoredTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		d := w.take(w.poll())[0]
		require.EqualValues(t, 2, w.tell(d, 1, "one", "two").Line, "the store has what a receipt names")
		require.Equal(t, []string{"one\ntwo"}, r.said(d.Run.Execution.ID))
		r.another()
		w.take(w.poll())
		require.EqualValues(t, 3, w.tell(d, 1, "one", "two", "three\nin one").Line)
		require.Equal(t, []string{"one\ntwo", "three in one"}, r.said(d.Run.Execution.ID))
	})
}

// Secrets are for groups that may have them, and each gateway hides them in what workers say.
func TestSecretsAreHiddenByEachGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", func(j *entity.Job) { j.Data = `{"pin":"${secret.pin}"}` })
		refused := r.Trigger(t, job.ID)[0]
		require.Empty(t, w.take(w.poll()))
		stored := r.Execution(t, refused.ID)
		require.Equal(t, entity.ReasonSecretMissing, stored.Reason)
		require.Contains(t, stored.ErrorMessage, "gets no secrets")

		r.allowSecrets() // that holds from the next run on
		exec := r.Trigger(t, job.ID)[0]
		runs := w.take(w.poll())
		require.Len(t, runs, 1)
		require.Contains(t, runs[0].Data, "1234567")
		r.another()
		w.take(w.poll())
		o := entity.Failed(entity.ReasonError, "no bank takes 1234567")
		o.NoRetry = true
		require.Equal(t, delivery.ReceiptAccepted, w.report(runs[0], o, "pin 1234567").Receipt)
		require.NotContains(t, r.Execution(t, exec.ID).ErrorMessage, "1234567")
		require.NotContains(t, r.said(exec.ID)[0], "1234567")
	})
}

// A worker is told to stop what somebody cancelled, at once, and what ran out of time, once more after a while.
func TestAWorkerIsToldToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", func(j *entity.Job) { j.TimeoutSec = 30 })
		exec := r.Trigger(t, job.ID)[0]
		d := w.take(w.poll())[0]
		require.Equal(t, 30*time.Second, d.Timeout)
		parked := w.poll()
		began := r.Clock.Now()
		r.cancel(exec.ID)
		a := w.await(parked)
		require.Equal(t, []delivery.Stop{{Attempt: attemptOf(d), Reason: delivery.StopCancel}}, a.Cancel)
		require.Less(t, r.Clock.Now().Sub(began), time.Second)
		w.ack = a.Seq
		require.Equal(t, delivery.ReceiptAccepted, w.report(d, entity.Outcome{Status: entity.StatusCancelled}).Receipt)
		w.running = nil

		r.Trigger(t, job.ID)
		late := w.take(w.poll())[0]
		began = r.Clock.Now()
		for {
			a := w.await(w.poll())
			w.ack = a.Seq
			if len(a.Cancel) > 0 {
				require.Equal(t, []delivery.Stop{{Attempt: attemptOf(late), Reason: delivery.StopTimeout}}, a.Cancel)
				break
			}
		}
		require.InDelta(t, 42, r.Clock.Now().Sub(began).Seconds(), 4)
	})
}

// A worker that dies breaks its call off. Runs go to the others at once, not when its lease is over.
func TestAWorkerWhoseCallBrokeOffGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dead, lives := r.register("dead", 1, "settle"), r.register("lives", 1, "settle")
		lives.free = entity.Slots{1, 0} // the other one has more room
		got := dead.poll()
		dead.pass(func() bool { return r.looks.Load() > 0 }, "it is known")
		dead.breaks()
		require.ErrorIs(t, dead.await(got).err, context.Canceled)
		job := r.remoteJob("j", "settle", nil)
		exec := r.Trigger(t, job.ID)[0]
		runs := lives.take(lives.poll())
		require.Len(t, runs, 1)
		require.Equal(t, exec.ID, runs[0].Run.Execution.ID)
		next := r.Trigger(t, job.ID)[0]
		require.Len(t, dead.take(dead.again()), 1, "it is back")
		require.Equal(t, dead.id, r.Execution(t, next.ID).NodeID)
	})
}

// A worker that drains gets nothing new, and is told so.
func TestAWorkerThatDrainsGetsNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		w.take(w.poll())
		require.NoError(t, r.Store.DrainWorker(t.Context(), w.id, true))
		for a := w.await(w.poll()); !a.Drain; a = w.await(w.poll()) {
			w.ack = a.Seq
		}
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		require.Empty(t, w.take(w.poll()))
		require.NoError(t, r.Store.DrainWorker(t.Context(), w.id, false))
		for len(w.running) == 0 {
			w.take(w.poll())
		}
	})
}

// While the store is away for all, answers renew leases from the poll itself. Else the worker is sent elsewhere.
func TestAnOutageForAllStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		w.take(w.poll())
		r.workers.away.Store(true)
		r.hold.Store(int64(r.Clock.Monotonic() + time.Minute))
		a := w.await(w.poll())
		require.True(t, a.Hold)
		require.Empty(t, a.Deliveries)
		r.hold.Store(1)
		require.ErrorContains(t, w.await(w.poll()).err, "call the next one")
		r.workers.away.Store(false)
		r.hold.Store(0)
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		require.Len(t, w.take(w.poll()), 1)
	})
}

// A node that stops sends its workers elsewhere, claims nothing for them, and takes their reports until the last.
func TestANodeThatStopsSendsItsWorkersElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", nil)
		r.Trigger(t, job.ID)
		d := w.take(w.poll())[0]
		parked := w.poll()
		r.gateway.Leave()
		a := w.await(parked)
		require.Equal(t, 5*time.Second, a.RetryAfter)
		w.ack = a.Seq
		r.Trigger(t, job.ID)
		require.Empty(t, w.take(w.poll()))
		require.Equal(t, delivery.ReceiptAccepted, w.report(d, entity.Succeeded("")).Receipt)
		r.gateway.Close()
		_, err := r.gateway.Report(t.Context(), w.id, w.epoch, nil)
		require.ErrorContains(t, err, "call the next one")
	})
}

// A call that claims an epoch which the store does not have ends nothing: any holder of the group's token could make
// one.
func TestAnEpochThatTheStoreDoesNotHaveEndsNoLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", nil)
		r.Trigger(t, job.ID)
		d := w.take(w.poll())[0]
		parked := w.poll()
		stranger := &remote{rig: r, id: w.id, epoch: 9, free: w.free}
		require.ErrorContains(t, stranger.await(stranger.poll()).err, "this life of the worker is over")
		require.Empty(t, w.take(parked), "the poll beside it is answered at its end")
		require.Equal(t, delivery.ReceiptAccepted, w.report(d, entity.Succeeded("")).Receipt)
		r.Trigger(t, job.ID)
		require.Len(t, w.take(w.poll()), 1)
	})
}
