package running_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func command(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobCommand, "", `{"command":["true"]}` }

// holdCommands lets commands run until release, and other runs end at once. It
// counts the commands that are inside at one time.
func holdCommands(n *enginetest.Node) (most func() int, release func()) {
	open := make(chan struct{})
	var mu sync.Mutex
	inside, peak := 0, 0
	n.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if run.Job.Type != entity.JobCommand {
			return entity.Succeeded("")
		}
		mu.Lock()
		inside++
		peak = max(peak, inside)
		mu.Unlock()
		defer func() { mu.Lock(); defer mu.Unlock(); inside-- }()
		select {
		case <-open:
			return entity.Succeeded("")
		case <-ctx.Done():
			return enginetest.Stopped(ctx)
		}
	})
	return func() int { mu.Lock(); defer mu.Unlock(); return peak }, sync.OnceFunc(func() { close(open) })
}

// Commands wait for their own slots, however many and however urgent they are,
// and hold up nothing else: neither what waits nor direct starts (engine rules 14,
// 15 and 22).
func TestWaitingCommandsHoldUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 8, CommandSlots: 4})
		most, release := holdCommands(n)
		defer release()
		flood := n.Add(t, enginetest.Job("flood", func(j *entity.Job) { command(j); j.Priority = 10 }))
		plain := n.Add(t, enginetest.Job("plain", func(j *entity.Job) { j.Priority = 1 }))
		var commands []*entity.Execution
		for range 512 {
			commands = append(commands, waitingRun(t, n, flood.ID))
		}
		n.Start(t)
		n.Commits.AfterCommit(commit.PostCommit{Ready: 512, ReadyCommands: 512})
		n.Script.Await(t, 4)
		for range 3 {
			n.AwaitStatus(t, startRun(t, n, plain.ID).ID, entity.StatusSuccess)
		}
		enginetest.Await(t, func() bool { return n.Runner.Reserve(entity.Slots{1}) == entity.Slots{1} },
			"the claim has seen that no plain run waits")
		n.Runner.Release(entity.Slots{1})
		fires := n.Add(t, enginetest.Job("fires", enginetest.Every(time.Hour)))
		n.Fire(t)
		require.Equal(t, entity.RunningKey("node-1"), firstClaim(t, n, fires.ID), "it started directly")
		running, slots := n.Runner.Load(entity.SlotCommand)
		require.Equal(t, []int{4, 4}, []int{running, slots})
		release()
		for _, exec := range commands {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
		require.Equal(t, 4, most())
	})
}

// firstClaim is the claim key with which the first run of a job was born, or
// that of a run on the node when it has ended since.
func firstClaim(t *testing.T, n *enginetest.Node, jobID string) entity.ClaimKey {
	t.Helper()
	exec := n.Executions(t, jobID)[0]
	if exec.Status.Final() && exec.Attempt == 1 && exec.Token == 1 {
		return entity.RunningKey(exec.NodeID)
	}
	return exec.Claim
}

// A time-out begins with the attempt: what waits for a slot is nobody's attempt.
func TestTheTimeoutOfACommandBeginsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{CommandSlots: 1})
		job := n.Add(t, enginetest.Job("slow", func(j *entity.Job) { command(j); j.TimeoutSec = 60 }))
		deadlines, release := make(chan time.Time), make(chan struct{})
		n.Script.Reply(func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
			deadline, _ := ctx.Deadline()
			deadlines <- deadline
			<-release
			return entity.Succeeded("")
		})
		n.Start(t)
		execs := []*entity.Execution{startRun(t, n, job.ID), startRun(t, n, job.ID)}
		<-deadlines // the other one waits for the slot
		time.Sleep(30 * time.Second)
		release <- struct{}{}
		require.Equal(t, time.Now().Add(time.Minute), <-deadlines, "its time begins with its attempt")
		release <- struct{}{}
		for _, exec := range execs {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
	})
}

// Each kind of direct starts yields to what waits for its own slots.
func TestDirectStartsYieldByKind(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{Slots: 3, CommandSlots: 2})
	all := entity.Slots{entity.SlotGeneral: 9, entity.SlotCommand: 9}
	n.Runner.RunsReady(entity.SlotCommand)
	require.Equal(t, entity.Slots{entity.SlotGeneral: 3}, n.Runner.Reserve(all))
	n.Runner.Release(entity.Slots{entity.SlotGeneral: 3})
	n.Runner.RunsReady(entity.SlotGeneral)
	require.Zero(t, n.Runner.Reserve(all))
}

// An attempt that does not begin is none: the run waits again as if nobody had
// claimed it, and ends well later (engine rule 22).
func TestAnAttemptThatDidNotBeginDoesNotCount(t *testing.T) {
	for name, change := range map[string]func(j *entity.Job){
		"a plain job": func(*entity.Job) {}, "a serial one": func(j *entity.Job) {
			j.Overlap = entity.OverlapSerial
		}, "with retries": retrying(2),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{Slots: 1})
				job := n.Add(t, enginetest.Job("busy", change))
				n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
					if len(n.Script.Runs()) == 1 {
						return entity.NotBegun(time.Minute, "its host is busy")
					}
					return entity.Succeeded("done")
				})
				exec := startRun(t, n, job.ID)
				n.Script.Await(t, 1)
				eventually(t, n, "it waits again", func() bool { return n.Execution(t, exec.ID).Status == entity.StatusWaiting })
				back := n.Execution(t, exec.ID)
				require.Equal(t, []any{0, 0, "", "its host is busy", entity.WaitTime},
					[]any{back.Attempt, back.RetryCount, back.NodeID, back.ErrorMessage, back.Claim.WaitsFor()})
				require.True(t, back.StartTime.IsZero())
				eventually(t, n, "its slot is free", func() bool { used, _ := n.Runner.Load(entity.SlotGeneral); return used == 0 })
				n.Clock.Advance(time.Minute)
				eventually(t, n, "it is tried again", func() bool { return n.Execution(t, exec.ID).Status == entity.StatusSuccess })
				end := n.Execution(t, exec.ID)
				require.Equal(t, []any{1, 0, ""}, []any{end.Attempt, end.RetryCount, end.ErrorMessage})
				attempts, err := n.Store.Executions.Attempts(t.Context(), exec.ID)
				require.NoError(t, err)
				require.Empty(t, attempts)
				require.Empty(t, n.Events(t), "nothing went wrong")
			})
		})
	}
}

// A cancellation while the attempt does not begin ends the run.
func TestACancelOfAnAttemptThatDidNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("busy", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
		asked := make(chan struct{})
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			<-asked
			return entity.NotBegun(time.Minute, "")
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
		close(asked)
		n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		require.Len(t, n.Events(t), 1)
	})
}

// The wait of an executor before it begins counts for nothing.
func TestWaitingBeforeTheBeginningDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("waits", func(j *entity.Job) { j.TimeoutSec = 1 }))
		n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			begins := rep.Waits()
			n.Clock.Advance(5 * time.Second)
			begins()
			if _, ok := ctx.Deadline(); !ok {
				return entity.Failed(entity.ReasonError, "there is no deadline")
			}
			<-ctx.Done()
			if ctx.Err() != context.DeadlineExceeded {
				return entity.Failed(entity.ReasonError, ctx.Err().Error())
			}
			return enginetest.Stopped(ctx)
		})
		exec := startRun(t, n, job.ID)
		end := n.AwaitStatus(t, exec.ID, entity.StatusTimeout)
		require.Equal(t, 5*time.Second, end.StartTime.Sub(exec.DueTime), "it began when it did")
		require.Zero(t, end.Duration)
	})
}
