package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// reportAll sends items in one report.
func (w *remote) reportAll(items ...gateway.Item) []gateway.Receipt {
	w.t.Helper()
	got := make(chan []gateway.Receipt, 1)
	go func() {
		receipts, err := w.gateway.Report(context.Background(), w.id, w.epoch, items)
		if err != nil {
			w.t.Errorf("report: %v", err)
		}
		got <- receipts
	}()
	w.pass(func() bool { return len(got) > 0 }, "the report is answered")
	return <-got
}

// A retry may reach the worker that still has the end of the attempt before it: the receipt was lost.
func TestTwoAttemptsOfOneRunAreToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		job := r.remoteJob("j", "settle", func(j *entity.Job) { j.Retry.MaxRetries = 1 })
		exec := r.Trigger(t, job.ID)[0]
		first := w.take(w.poll())[0]
		failed := entity.Failed(entity.ReasonError, "no")
		require.Equal(t, delivery.ReceiptAccepted, w.report(first, failed).Receipt)
		var second gateway.Delivery
		for {
			if runs := w.take(w.poll()); len(runs) > 0 {
				second = runs[0]
				break
			}
		}
		require.Equal(t, exec.ID, second.Run.Execution.ID)
		r.another()
		item := func(d gateway.Delivery, o entity.Outcome) gateway.Item {
			return gateway.Item{
				Attempt: attemptOf(d), Number: d.Run.Execution.Attempt, Progress: -1, End: &gateway.End{Outcome: o},
			}
		}
		got := w.reportAll(item(second, entity.Succeeded("done")), item(first, failed))
		require.Equal(t, delivery.ReceiptAccepted, got[0].Receipt)
		require.Equal(t, delivery.ReceiptDuplicate, got[1].Receipt)
		require.Equal(t, entity.StatusSuccess, r.Execution(t, exec.ID).Status)
	})
}

// A worker writes to the logs of its own runs alone.
func TestAWorkerSaysNothingOfOthersRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		other := r.register("b", 1, "settle")
		r.Trigger(t, r.remoteJob("j", "settle", nil).ID)
		d := other.take(other.poll())[0]
		w.take(w.poll())
		receipts, err := w.gateway.Report(context.Background(), w.id, w.epoch, []gateway.Item{{
			Attempt: attemptOf(d), Number: 1, LineFrom: 1, Lines: []string{"forged"}, Progress: 50,
		}})
		require.NoError(t, err)
		require.Equal(t, delivery.ReceiptStale, receipts[0].Receipt)
		for range 3 {
			w.take(w.poll())
		}
		require.Empty(t, r.said(d.Run.Execution.ID))
	})
}

// An end counts once, also where a report has it twice.
func TestAReportThatHasAnEndTwiceStoresItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		d := w.take(w.poll())[0]
		item := gateway.Item{
			Attempt: attemptOf(d), Number: 1, Progress: -1, End: &gateway.End{Outcome: entity.Succeeded("done")},
		}
		got := w.reportAll(item, item)
		require.ElementsMatch(t, []delivery.Receipt{delivery.ReceiptAccepted, delivery.ReceiptDuplicate},
			[]delivery.Receipt{got[0].Receipt, got[1].Receipt})
		require.Equal(t, entity.StatusSuccess, r.Execution(t, exec.ID).Status)
	})
}

// A worker says how long ago a run ended by its own measure of time; no run ended before it began.
func TestNoRunEndsBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		d := w.take(w.poll())[0]
		w.reportAll(gateway.Item{
			Attempt: attemptOf(d), Number: 1, Progress: -1,
			End: &gateway.End{Outcome: entity.Succeeded("done"), Ago: 300 * 24 * time.Hour, Took: 60 * 24 * time.Hour},
		})
		stored := r.Execution(t, exec.ID)
		claimed := d.Run.Execution.StartTime.Truncate(time.Millisecond)
		require.False(t, stored.StartTime.Before(claimed), "%v %v", stored.StartTime, claimed)
		require.False(t, stored.EndTime.Before(claimed), "%v %v", stored.EndTime, claimed)
	})
}

// A worker that no server could be reached by drops lines, and goes on behind their numbers. It waits until all that it
// sends is stored, and only then says how the run ended.
func TestLinesBehindAGapAreConfirmedByTheirNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		d := w.take(w.poll())[0]
		require.EqualValues(t, 2, w.tell(d, 1, "one", "two").Line)
		require.EqualValues(t, 5001, w.tell(d, 5000, "… lines are missing …", "three").Line)
		require.EqualValues(t, 5002, w.tell(d, 5001, "three", "four").Line)
		require.Equal(t, []string{"one\ntwo", "… lines are missing …\nthree", "four"}, r.said(exec.ID))
		require.EqualValues(t, entity.LinesPerAttempt+9, w.tell(d, entity.LinesPerAttempt+9, "no room").Line)
	})
}

// A line that the next one replaces keeps its number and its mark; no line of a worker becomes two.
func TestReplacedLinesOfAWorkerKeepTheirMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		w := r.register("a", 1, "settle")
		exec := r.Trigger(t, r.remoteJob("j", "settle", nil).ID)[0]
		d := w.take(w.poll())[0]
		require.EqualValues(t, 4, w.tell(d, 1, "10%\r", "20%\r", "done", "a\rb\nc").Line)
		require.EqualValues(t, 5, w.tell(d, 5, "prompt\r").Line)
		require.Equal(t, []string{"done\nb c", "prompt\r"}, r.said(exec.ID))
		require.EqualValues(t, 6, w.tell(d, 6, "the end").Line)
		require.Equal(t, []string{"done\nb c", "prompt\r", "the end"}, r.said(exec.ID))
	})
}
