package running_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

const shopWorker = "@shop.0123456789abc"

// heldByWorker is a run of a new job that a worker holds, in its third life.
func heldByWorker(t *testing.T, n *enginetest.Node, change func(j *entity.Job)) entity.Run {
	t.Helper()
	job := n.Add(t, enginetest.Job("remote", change))
	exec := waitingRun(t, n, job.ID)
	var got []*entity.Execution
	n.Write(t, func(ctx context.Context, tx repository.Tx) (err error) {
		got, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
			Limit: 1, Now: n.Time.Now(), Queues: []entity.Queue{exec.Claim.Queue()}, Only: []string{exec.ID},
			Holders: map[string]repository.Holder{exec.ID: {NodeID: shopWorker, Epoch: 3}},
		})
		return err
	})
	require.Len(t, got, 1)
	return entity.Run{Job: n.Job(t, job.ID), Execution: got[0]}
}

// report is what a gateway does with the end of a run: it waits for two seconds at most.
func report(t *testing.T, n *enginetest.Node, run entity.Run, o entity.Outcome) delivery.Receipt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	now := n.Time.Now()
	exec := *run.Execution
	run.Execution = &exec
	return n.Runner.Ends.Report(ctx, &completion.Result{Run: run, Outcome: o, Start: now, End: now})
}

func evidence(t *testing.T, n *enginetest.Node, id string) (lines []string) {
	t.Helper()
	chunks, err := n.Store.Logs(t.Context(), repository.LogPage{ExecutionID: id, Limit: 100})
	require.NoError(t, err)
	for _, c := range chunks {
		if c.Type == entity.LogEvidence {
			lines = append(lines, c.Content)
		}
	}
	return lines
}

// An end that a worker sends is stored once, whatever becomes of the answers (engine rules 9 and 23).
func TestAReportIsStoredOnceAndEachSenderGetsAReceipt(t *testing.T) {
	failed := entity.Failed(entity.ReasonError, "no bank")
	for name, c := range map[string]struct {
		change  func(j *entity.Job)
		outcome entity.Outcome
		want    entity.Status
	}{
		"a success":                 {nil, entity.Succeeded("42 bookings"), entity.StatusSuccess},
		"a failure that is final":   {nil, failed, entity.StatusFailed},
		"a failure that is retried": {retrying(1), failed, entity.StatusWaiting},
		"the last of the retries":   {retrying(1), failed, entity.StatusDead},
		"a run that did not begin":  {nil, entity.NotBegun(time.Second, "stopping"), entity.StatusWaiting},
		"one that was interrupted":  {nil, entity.Failed(entity.ReasonShutdown, "the worker stops"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				run := heldByWorker(t, n, c.change)
				if c.want == entity.StatusDead {
					changeRow(t, n, run.Execution.ID, func(e *entity.Execution) { e.RetryCount = 1 })
					run.Execution = n.Execution(t, run.Execution.ID)
				}
				n.Start(t)
				require.Equal(t, delivery.ReceiptAccepted, report(t, n, run, c.outcome))
				stored := n.Execution(t, run.Execution.ID)
				require.Equal(t, delivery.ReceiptDuplicate, report(t, n, run, c.outcome))
				after := n.Execution(t, run.Execution.ID)
				require.Equal(t, []int{stored.RetryCount, stored.NodeLosses}, []int{after.RetryCount, after.NodeLosses})
				if c.outcome.Reason != entity.ReasonShutdown { // that goes on at once, on this node
					require.Equal(t, c.want, stored.Status)
					require.Equal(t, stored, after)
				}
				require.Empty(t, evidence(t, n, run.Execution.ID), "a repeated end is no evidence")
			})
		})
	}
}

// An end that comes too late is kept as evidence, and its sender is told to drop it.
func TestAReportOfAnAttemptThatWasGivenUpIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		run := heldByWorker(t, n, nil)
		n.Start(t)
		held, err := n.Runner.Reap(t.Context(), shopWorker, 3)
		require.NoError(t, err)
		require.Equal(t, 1, held)
		eventually(t, n, "it runs on the node instead", func() bool {
			return n.Execution(t, run.Execution.ID).Status == entity.StatusSuccess
		})
		before := n.Execution(t, run.Execution.ID)
		require.Equal(t, delivery.ReceiptStale, report(t, n, run, entity.Succeeded("too late")))
		require.Equal(t, before, n.Execution(t, run.Execution.ID))
		require.Len(t, evidence(t, n, run.Execution.ID), 1)

		foreign := *run.Execution
		foreign.Epoch = 2
		run.Execution = &foreign
		require.Equal(t, delivery.ReceiptStale, report(t, n, run, entity.Succeeded("of a former life")))
	})
}

// A node that gave no receipt stores nothing later: the worker has gone elsewhere with the end.
func TestAReportWithoutAReceiptIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		run := heldByWorker(t, n, nil)
		n.Start(t)
		n.Faults.Away(true)
		require.Equal(t, delivery.ReceiptRetry, report(t, n, run, entity.Succeeded("first")))
		n.Faults.Away(false)
		for range 100 {
			n.Clock.Advance(time.Second)
			time.Sleep(time.Second)
		}
		require.Equal(t, entity.StatusRunning, n.Execution(t, run.Execution.ID).Status)
		require.Zero(t, n.Runner.HeldEnds())
		require.Equal(t, delivery.ReceiptAccepted, report(t, n, run, entity.Succeeded("second")))
		require.Equal(t, "second", n.Execution(t, run.Execution.ID).Result)
	})
}

// A transaction that is under way when the wait ends may store the end; who sends it again learns that.
func TestAReportWhoseTransactionIsUnderWayIsNotWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		run := heldByWorker(t, n, nil)
		n.Start(t)
		n.Faults.Before(func(name string) {
			if name == "complete" {
				time.Sleep(5 * time.Second)
			}
		})
		require.Equal(t, delivery.ReceiptRetry, report(t, n, run, entity.Succeeded("slow")))
		n.Faults.Before(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, entity.StatusSuccess, n.Execution(t, run.Execution.ID).Status)
		require.Equal(t, delivery.ReceiptDuplicate, report(t, n, run, entity.Succeeded("slow")))
	})
}

// The commit whose answer was lost is found, and a commit that was lost happens.
func TestAReportSurvivesALostAnswer(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"the reply is lost": enginetest.LostReply, "the commit is lost": enginetest.LostCommit,
		"it runs into others": enginetest.Deadlock,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				run := heldByWorker(t, n, nil)
				n.Start(t)
				n.Faults.Next("complete", fault)
				got := make(chan delivery.Receipt, 1)
				go func() { got <- report(t, n, run, entity.Succeeded("once")) }()
				eventually(t, n, "it gets a receipt", func() bool { return len(got) == 1 })
				receipt := <-got
				require.Contains(t, []delivery.Receipt{delivery.ReceiptAccepted, delivery.ReceiptDuplicate}, receipt)
				require.Equal(t, entity.StatusSuccess, n.Execution(t, run.Execution.ID).Status)
				require.Empty(t, evidence(t, n, run.Execution.ID))
			})
		})
	}
}
