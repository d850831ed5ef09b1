package running_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Whatever becomes of a completion's commit, the end is stored once, and a
// completion that is sent again is no late report (engine rule 9).
func TestAnEndIsStoredOnceWhateverBecomesOfItsCommit(t *testing.T) {
	faults := map[string]enginetest.Fault{
		"the reply is lost":   enginetest.LostReply,
		"the commit is lost":  enginetest.LostCommit,
		"the store is away":   enginetest.Refused,
		"it runs into others": enginetest.Deadlock,
	}
	ends := []struct {
		name     string
		outcome  entity.Outcome
		retries  int
		want     entity.Status
		attempts int
		events   int
	}{
		{"success", entity.Succeeded("done"), 0, entity.StatusSuccess, 0, 0},
		{"failure", failed(), 0, entity.StatusFailed, 0, 1},
		{"retry", failed(), 1, entity.StatusWaiting, 1, 0},
	}
	for fault, f := range faults {
		for _, end := range ends {
			t.Run(end.name+" when "+fault, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := enginetest.New(t, enginetest.Options{})
					job := n.Add(t, enginetest.Job("ends", func(j *entity.Job) {
						j.Retry.MaxRetries, j.Retry.IntervalMs, j.Retry.MaxIntervalMs = end.retries, 3_600_000, 3_600_000
					}))
					n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
						rep.Log(entity.LogStdout, "one line")
						return end.outcome
					})
					n.Faults.Next("complete", f)
					n.Start(t)
					exec := startRun(t, n, job.ID)
					n.Script.Await(t, 1)
					eventually(t, n, "the slot is given back", func() bool {
						running, _ := n.Runner.Load(entity.SlotGeneral)
						return running == 0
					})
					ended := n.Execution(t, exec.ID)
					require.Equal(t, end.want, ended.Status)
					require.Equal(t, end.retries, ended.RetryCount)
					require.Len(t, attemptsOf(t, n, exec.ID), end.attempts)
					require.Len(t, n.Events(t), end.events)
					require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
					require.Empty(t, linesOf(t, n, exec.ID, entity.LogEvidence))
					lines := linesOf(t, n, exec.ID, entity.LogStdout)
					require.Len(t, lines, 1)
					require.Equal(t, "one line", lines[0].Content)
				})
			})
		}
	}
}

// endTogether starts a run of each job and makes all but the first of them end
// while the completion of the first is under way, so that one transaction
// takes them all; meanwhile is called before that. The node claims nothing more.
func endTogether(t *testing.T, n *enginetest.Node, o entity.Outcome, meanwhile func([]*entity.Execution),
	jobs ...*entity.Job,
) []*entity.Execution {
	t.Helper()
	rest, under, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	reach := sync.OnceFunc(func() { close(under); <-goOn })
	n.Faults.Before(func(name string) {
		if name == "complete" {
			reach()
		}
	})
	n.Script.Reply(func(_ context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
		rep.Log(entity.LogStdout, "said by "+run.Job.Name)
		if run.Job.ID != jobs[0].ID {
			<-rest
		}
		return o
	})
	execs := make([]*entity.Execution, len(jobs))
	for i, job := range jobs {
		execs[i] = startRun(t, n, job.ID)
	}
	<-under
	n.Script.Await(t, len(jobs))
	meanwhile(execs)
	close(rest)
	n.Runner.Drain(t.Context(), time.Hour) // returns when every end waits to be stored
	close(goOn)
	return execs
}

func nothing([]*entity.Execution) {}

// The one end that the store refuses for good is stored without its texts; the
// others of its transaction are stored as they are (engine rule 10).
func TestAPoisonedEndIsStoredWithoutItsTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		var jobs []*entity.Job
		for _, name := range []string{"first", "second", "poisoned", "fourth", "fifth", "sixth"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
		}
		var mu sync.Mutex
		bad := map[string]bool{}
		n.Faults.Poison(func(id string) bool {
			mu.Lock()
			defer mu.Unlock()
			if exec := n.Execution(t, id); exec.JobID == jobs[2].ID {
				bad[id] = true
			}
			return bad[id]
		})
		for i, exec := range endTogether(t, n, entity.Succeeded("done"), nothing, jobs...) {
			ended := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
			if i == 2 {
				require.Empty(t, ended.Result)
				require.Contains(t, ended.ErrorMessage, "could not be stored")
				require.Empty(t, linesOf(t, n, exec.ID, entity.LogStdout))
				continue
			}
			require.Equal(t, "done", ended.Result)
			require.Empty(t, ended.ErrorMessage)
			require.Len(t, linesOf(t, n, exec.ID, entity.LogStdout), 1)
		}
		awaitIdle(t, n)
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
	})
}

// A transaction takes at most the configured number of ends.
func TestEndsBeyondOneBatchAreStoredByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{BatchSize: 2})
		sizes := &batchSizes{Metrics: n.Runner.Ends.Metrics}
		n.Runner.Ends.Metrics = sizes
		n.Start(t)
		var jobs []*entity.Job
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
		}
		for _, exec := range endTogether(t, n, entity.Succeeded("done"), nothing, jobs...) {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
		awaitIdle(t, n)
		synctest.Wait()
		require.Equal(t, []int{1, 2, 2, 1}, sizes.all())
	})
}

// While the store is away, ends are held together with their slots; when it is
// back, every one of them is stored (engine rule 23).
func TestEndsAreHeldWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 3})
		job := n.Add(t, enginetest.Job("patient", nil))
		release := n.Script.Hold()
		var ids []string
		for range 3 {
			ids = append(ids, startRun(t, n, job.ID).ID)
		}
		n.Script.Await(t, 3)
		tried := make(chan struct{}, 1000)
		n.Faults.Before(func(name string) {
			if name == "complete" {
				tried <- struct{}{}
			}
		})
		n.Faults.Away(true)
		release()
		for range 30 {
			eventually(t, n, "the end is sent", func() bool { return len(tried) > 0 })
			<-tried
		}
		running, _ := n.Runner.Load(entity.SlotGeneral)
		require.Equal(t, 3, running, "slots are held")
		require.Zero(t, n.Runner.Reserve(entity.Slots{1}))
		require.NoError(t, n.Runner.Reconcile(t.Context()))
		require.NoError(t, n.Runner.Reconcile(t.Context()))
		for _, id := range ids {
			require.Equal(t, entity.StatusRunning, n.Execution(t, id).Status)
		}
		n.Faults.Away(false)
		for _, id := range ids {
			eventually(t, n, "the end is stored", func() bool { return n.Execution(t, id).Status == entity.StatusSuccess })
			require.Equal(t, "done", n.Execution(t, id).Result)
		}
		awaitIdle(t, n)
		require.Len(t, n.Script.Runs(), 3, "each ran once")
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused + c.Lost }))
	})
}

// A node that stops while the store is away ends when its results are stored,
// not before (engine rule 23).
func TestANodeStopsOnlyWhenItsEndsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("patient", nil))
		exec := waitingRun(t, n, job.ID)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		release := n.Script.Hold()
		go func() { defer close(ended); _ = n.Runner.Run(ctx) }()
		n.Script.Await(t, 1)
		n.Faults.Away(true)
		release()
		n.Runner.Drain(ctx, time.Hour)
		cancel()
		select {
		case <-ended:
			require.Fail(t, "the node ended with a result in its hands")
		default:
		}
		n.Faults.Away(false)
		eventually(t, n, "the node ends", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
		require.Equal(t, entity.StatusSuccess, n.Execution(t, exec.ID).Status)
	})
}

// Texts from outside are cut and cleaned before they are sent (engine rule 10).
func TestTextsOfAnEndAreCutAndCleaned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("talkative", nil))
		o := failed()
		o.Message, o.Result = strings.Repeat("m", 100_000)+"\x00", "zero \x00 and \xff"+strings.Repeat("r", 1_000_000)
		n.Script.Reply(enginetest.Always(o))
		exec := n.AwaitStatus(t, startRun(t, n, job.ID).ID, entity.StatusFailed)
		require.LessOrEqual(t, len(exec.Result), 64<<10)
		require.LessOrEqual(t, len(exec.ErrorMessage), 4<<10)
		require.Greater(t, len(exec.Result), 60<<10)
		require.Greater(t, len(exec.ErrorMessage), 3<<10)
		require.NotContains(t, exec.Result, "\x00")
		require.NotContains(t, exec.Result, "\xff")
	})
}

// An end whose answer was lost is no late report, also when its retry has
// begun elsewhere before it is sent again (rules 9 and 19).
func TestAnEndThatWasTakenIsNoEvidenceAfterItsRetryBegan(t *testing.T) {
	for name, c := range map[string]struct {
		fault   enginetest.Fault
		refused int
	}{
		"taken, its answer lost": {enginetest.LostReply, 0},
		"never taken":            {enginetest.LostCommit, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("retries", retrying(1)))
				n.Script.Reply(enginetest.Always(failed()))
				n.Faults.Next("complete", c.fault)
				sent := make(chan struct{}, 8)
				n.Faults.Before(func(tx string) {
					if tx == "complete" {
						sent <- struct{}{}
					}
				})
				n.Start(t)
				exec := startRun(t, n, job.ID)
				<-sent
				if c.fault == enginetest.LostReply {
					awaitRetry(t, n, exec.ID, 1)
				}
				changeRow(t, n, exec.ID, func(exec *entity.Execution) {
					exec.Status, exec.NodeID, exec.Epoch, exec.Token, exec.Attempt = entity.StatusRunning, "node-2", 1, 2, 2
					exec.Claim = entity.RunningKey("node-2")
				})
				eventually(t, n, "the slot is given back", func() bool {
					running, _ := n.Runner.Load(entity.SlotGeneral)
					return running == 0
				})
				require.Equal(t, c.refused, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
				require.Len(t, linesOf(t, n, exec.ID, entity.LogEvidence), c.refused)
				require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status, "the other node's attempt goes on")
			})
		})
	}
}
