package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// No goroutine of a gateway outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A worker gets a run that waits for its group, and its report ends the run.
func TestAWorkerRunsWhatWaitsForItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 3, "settle")
		job := r.remoteJob("settle orders", "settle", nil)
		got := w.poll()
		exec := r.Trigger(t, job.ID)[0]
		runs := w.take(got)
		require.Len(t, runs, 1)
		require.Equal(t, exec.ID, runs[0].Run.Execution.ID)
		stored := r.Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusRunning, w.id, int64(3), entity.RunningKey(w.id)},
			[]any{stored.Status, stored.NodeID, stored.Epoch, stored.Claim})
		receipt := w.report(runs[0], entity.Succeeded("42 bookings"), "one", "two")
		require.Equal(t, delivery.ReceiptAccepted, receipt.Receipt)
		require.EqualValues(t, 2, receipt.Line)
		stored = r.Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusSuccess, "42 bookings", w.id, time.Second},
			[]any{stored.Status, stored.Result, stored.NodeID, stored.Duration})
		require.Empty(t, r.Script.Runs(), "no node runs it")
	})
}

// A lost answer costs a poll: the run is delivered again, with the same token.
func TestALostAnswerIsDeliveredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		first := w.await(w.poll())
		require.Len(t, first.Deliveries, 1)
		second := w.await(w.poll()) // the worker did not take the first answer
		require.Len(t, second.Deliveries, 1)
		require.Equal(t, first.Deliveries[0].Run.Execution.Token, second.Deliveries[0].Run.Execution.Token)
		require.Equal(t, second.Deliveries, w.await(w.again()).Deliveries, "a call that comes twice gets the same answer")
	})
}

// A call that is repeated because its answer was lost waits for nothing: its runs would stand still meanwhile.
func TestALostAnswerIsGivenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		first := w.await(w.poll())
		require.Len(t, first.Deliveries, 1)
		began := r.Clock.Now()
		second := w.await(w.again())
		require.Equal(t, first.Deliveries, second.Deliveries)
		require.Less(t, r.Clock.Now().Sub(began).Seconds(), 1.0)
	})
}

// Another gateway, and one that has lost its memory, delivers what its worker was given and did not take; and not what
// the worker holds, or has ended.
func TestAGatewayWithoutMemoryGoesByTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", nil)
		r.Trigger(t, job.ID)
		held := w.take(w.poll())
		require.Len(t, held, 1)
		r.Trigger(t, job.ID)
		lost := w.await(w.poll())
		require.Len(t, lost.Deliveries, 1)

		r.gateway = r.newGateway(r.Node)
		r.run(r.gateway)
		again := w.take(w.poll())
		require.Len(t, again, 1)
		require.Equal(t, lost.Deliveries[0].Run.Execution.ID, again[0].Run.Execution.ID)
		require.Equal(t, delivery.ReceiptAccepted, w.report(held[0], entity.Succeeded("")).Receipt)
		require.Equal(t, delivery.ReceiptDuplicate, w.report(held[0], entity.Succeeded("")).Receipt)
		w.running = w.running[1:]
		require.Empty(t, w.take(w.poll()))
	})
}

// Only a stored beat moves what an answer says of the lease.
func TestOnlyAStoredBeatRenewsALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1)
		w.take(w.poll())
		second := w.await(w.poll())
		require.EqualValues(t, 2, second.LeaseSeq, "it was stored while the poll was parked")
		require.Equal(t, 20*time.Second, second.Lease)
		w.ack = second.Seq
		r.workers.away.Store(true)
		third := w.await(w.poll())
		w.ack = third.Seq
		require.EqualValues(t, 2, third.LeaseSeq)
		row, err := r.Store.Worker(t.Context(), w.id)
		require.NoError(t, err)
		require.True(t, row.LastBeat.Before(r.Clock.Now().Add(-4*time.Second)))
		r.workers.away.Store(false)
		fourth := w.await(w.poll())
		require.EqualValues(t, 4, fourth.LeaseSeq)
	})
}

// No worker gets more than it has free slots for, nor what it does not offer.
func TestWorkersGetWhatTheyCanTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		small, other := r.register("small", 1, "settle"), r.register("other", 1, "bill")
		small.free, other.free = entity.Slots{2, 0}, entity.Slots{8, 0}
		settle := r.remoteJob("settle", "settle", nil)
		elsewhere := r.remoteJob(
			"elsewhere",
			"settle",
			func(j *entity.Job) { j.Routing.Labels = map[string]string{"zone": "b"} },
		)
		for range 5 {
			r.Trigger(t, settle.ID)
		}
		r.Trigger(t, elsewhere.ID)
		mine, none := small.poll(), other.poll()
		require.Len(t, small.take(mine), 2)
		require.Empty(t, other.take(none))
		small.free = entity.Slots{}
		require.Empty(t, small.take(small.poll()))
	})
}

// Each worker gets its part of a broadcast, and a retry of it; one that comes later gets nothing.
func TestABroadcastIsDeliveredToEachWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		one, two := r.register("one", 1, "settle"), r.register("two", 1, "settle")
		job := r.remoteJob("everywhere", "settle", func(j *entity.Job) {
			j.Broadcast, j.Retry.MaxRetries, j.Retry.IntervalMs = true, 1, 1000
		})
		execs := r.Trigger(t, job.ID)
		require.Len(t, execs, 2)
		late := r.register("late", 1, "settle")
		for _, w := range []*remote{one, two} {
			runs := w.take(w.poll())
			require.Len(t, runs, 1)
			exec := runs[0].Run.Execution
			require.Equal(t, []any{w.id, 2}, []any{exec.NodeID, exec.ShardTotal})
			require.Equal(t, delivery.ReceiptAccepted, w.report(runs[0], entity.Failed(entity.ReasonError, "once")).Receipt)
			w.running, w.free = nil, entity.Slots{8, 2}
			require.Empty(t, late.take(late.poll()))
			again := w.take(w.poll())
			require.Len(t, again, 1)
			require.Equal(t, []any{exec.ID, 2}, []any{again[0].Run.Execution.ID, again[0].Run.Execution.Attempt})
			require.Equal(t, delivery.ReceiptAccepted, w.report(again[0], entity.Succeeded("done")).Receipt)
		}
		for _, exec := range execs {
			stored := r.Execution(t, exec.ID)
			require.Equal(t, []any{entity.StatusSuccess, exec.NodeID}, []any{stored.Status, stored.NodeID})
		}
	})
}

// A life that is over is told so.
func TestALifeThatIsOverIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		former := r.register("a", 1)
		former.take(former.poll())
		parked := former.poll()
		w := r.register("a", 2)
		w.take(w.poll())
		require.ErrorContains(t, former.await(parked).err, "register anew")
		require.ErrorContains(t, former.await(former.poll()).err, "register anew")
		left, err := r.Store.LeaveWorker(t.Context(), w.id, 2)
		require.NoError(t, err)
		require.True(t, left)
		require.ErrorContains(t, w.await(w.poll()).err, "register anew")
		unknown := &remote{rig: r, id: worker.ID(group, "nobody"), epoch: 1}
		require.ErrorContains(t, unknown.await(unknown.poll()).err, "register anew")
	})
}

// A life that has left gets nothing more, also where a poll of its own is parked still.
func TestALifeThatHasLeftGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 2, "settle")
		w.take(w.poll())
		parked := w.poll()
		synctest.Wait()
		r.gateway.Left(w.id, 1)
		r.gateway.Left("nobody", 2)
		synctest.Wait()
		require.Empty(t, parked, "those are other lives")
		_, err := r.Store.LeaveWorker(t.Context(), w.id, 2)
		require.NoError(t, err)
		r.gateway.Left(w.id, 2)
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		require.ErrorContains(t, w.await(parked).err, "register anew")
		require.ErrorContains(t, w.await(w.poll()).err, "register anew")
		require.Equal(t, entity.StatusWaiting, r.Execution(t, exec.ID).Status)
	})
}

// Runs that no worker here can take hold up nobody behind them, however many they are: their handler's workers are
// full, or call another gateway.
func TestRunsOfAnotherHandlerHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		r.register("b", 1, "ship")
		w.take(w.poll())
		busy := r.remoteJob("busy", "ship", nil)
		for range 60 {
			r.Trigger(t, busy.ID)
		}
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		runs := w.take(w.poll())
		require.Len(t, runs, 1)
		require.Equal(t, exec.ID, runs[0].Run.Execution.ID)
	})
}

// A claim reads no more runs than there are slots where each finds a worker, however many wait. Where one finds none it
// reads others once, so that they are not held up.
func TestAClaimReadsAsManyRunsAsThereAreSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		settle := r.remoteJob("settle", "settle", nil)
		for range 50 {
			r.Trigger(t, settle.ID)
		}
		require.Len(t, w.take(w.poll()), 8)
		require.EqualValues(t, 8, r.heads.Load())

		other := newRig(t)
		w = other.register("a", 1, "settle")
		other.register("b", 1, "ship")
		settle = other.remoteJob("settle", "settle", nil)
		ship := other.remoteJob("ship", "ship", nil)
		for range 6 {
			other.Trigger(t, ship.ID)
			other.Trigger(t, settle.ID)
		}
		other.Trigger(t, settle.ID)
		require.Len(t, w.take(w.poll()), 7, "those behind runs of another handler, too")
	})
}

// A run that an answer has no room for keeps its slot: nothing is claimed in its place.
func TestWhatALongAnswerLeavesOutKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", func(j *entity.Job) { j.Data = `{"x":"` + strings.Repeat("x", 400) + `"}` })
		execs := make([]*entity.Execution, 0, 20)
		for range 20 {
			execs = append(execs, r.Trigger(t, job.ID)...)
		}
		require.Len(t, w.take(w.poll()), 2)
		for range 3 {
			began := r.Clock.Now()
			require.Len(t, w.take(w.poll()), 2)
			require.Less(t, r.Clock.Now().Sub(began), time.Second)
		}
		running := 0
		for _, e := range execs {
			if r.Execution(t, e.ID).Status == entity.StatusRunning {
				running++
			}
		}
		require.Equal(t, 8, running, "as many as it has slots")
	})
}

// A poll for whose group nothing waits costs the store nothing: thousands of workers call without work.
func TestPollsWithoutWorkAskTheStoreNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		require.Empty(t, w.take(w.poll()))
		looks, at := r.looks.Load(), r.Clock.Monotonic()
		for range 5 {
			w.ack = w.await(w.poll()).Seq // each waits for five seconds
		}
		seconds := int64((r.Clock.Monotonic() - at) / time.Second)
		require.LessOrEqual(t, r.looks.Load()-looks, 2*(seconds+1), "two questions a second, whatever calls")
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		began := r.Clock.Monotonic()
		require.Len(t, w.take(w.poll()), 1)
		require.Less(t, r.Clock.Monotonic()-began, time.Second, "and none is late for that")
	})
}
