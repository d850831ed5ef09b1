package running_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// steps are what a wall clock may do while a run waits.
var steps = map[string]time.Duration{
	"half an hour back": -30 * time.Minute, "half an hour ahead": 30 * time.Minute, "a day back": -24 * time.Hour,
	"a day ahead": 24 * time.Hour, "seven seconds back": -7 * time.Second, "seven seconds ahead": 7 * time.Second,
}

// backOff is that of the jobs of these tests.
const backOff = 20 * time.Second

func backingOff(change func(j *entity.Job)) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Retry = entity.RetryPolicy{MaxRetries: 1, Backoff: entity.BackoffFixed, IntervalMs: backOff.Milliseconds()}
		if change != nil {
			change(j)
		}
	}
}

// bubble runs a subtest in virtual time.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// failOnce starts a run that fails, and waits until everybody knows of its back-off.
func failOnce(t *testing.T, n *enginetest.Node, jobID string) string {
	t.Helper()
	inTurn(n, failed(), entity.Succeeded("done"), entity.Succeeded("done"))
	id := startRun(t, n, jobID).ID
	enginetest.Await(t, func() bool {
		return n.Counts.Of(func(c *enginetest.Counts) int { return c.Ends }) == 1
	}, "the first attempt has ended")
	return id
}

// advance moves the clocks of a bubble on. No loop of the node looks at the former time any more.
func advance(n *enginetest.Node, by time.Duration) {
	synctest.Wait()
	n.Clock.Advance(by)
	synctest.Wait()
}

// stepsDuring lets the back-off of a run pass while the wall clock steps after 5 s. The run waits until its end.
func stepsDuring(t *testing.T, n *enginetest.Node, step time.Duration, id string) {
	t.Helper()
	advance(n, 5*time.Second)
	n.Clock.Jump(step)
	for range 3 {
		advance(n, backOff/4-200*time.Millisecond)
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		_, err = n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		_, waits := n.Execution(t, id).Claim.ScheduledUntil()
		require.True(t, waits, "the back-off is not over")
	}
	advance(n, 600*time.Millisecond)
	_, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
}

// Rule 13: on SQLite, too, a back-off is as long as it should be, whatever the wall clock does meanwhile.
func TestABackOffKeepsItsLengthWhateverTheWallClockDoes(t *testing.T) {
	for name, step := range steps {
		bubble(t, name, func(t *testing.T) {
			n := startedNode(t, enginetest.Options{})
			id := failOnce(t, n, n.Add(t, enginetest.Job("job", backingOff(nil))).ID)
			stepsDuring(t, n, step, id)
			require.Equal(t, 2, n.AwaitStatus(t, id, entity.StatusSuccess).Attempt)
		})
	}
}

// Rule 17: an attempt has the whole span to start in, from the end of its back-off on.
func TestAStepOfTheWallClockTakesNothingOfAStartDeadline(t *testing.T) {
	for name, step := range steps {
		bubble(t, name, func(t *testing.T) {
			n := startedNode(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("job", backingOff(func(j *entity.Job) { j.StartDeadlineSec = 60 })))
			id := failOnce(t, n, job.ID)
			n.Runner.Suspend(true)
			stepsDuring(t, n, step, id)
			advance(n, 50*time.Second)
			closed, err := n.Repairs.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Zero(t, closed)
			advance(n, 11*time.Second)
			_, err = n.Repairs.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"FAILED(DEADLINE)"}, enginetest.States([]*entity.Execution{n.Execution(t, id)}))
		})
	}
}

// Rule 17: a run whose back-off is over, and that nobody could let start yet, has its whole span before it.
func TestARunThatCouldNotStartKeepsItsStartDeadline(t *testing.T) {
	bubble(t, "a day ahead", func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("job", backingOff(func(j *entity.Job) { j.StartDeadlineSec = 60 })))
		id := failOnce(t, n, job.ID)
		n.Faults.Next("unpark", enginetest.Refused, enginetest.Refused, enginetest.Refused)
		advance(n, 5*time.Second)
		n.Clock.Jump(24 * time.Hour)
		advance(n, backOff-4*time.Second)
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.Error(t, err)
		_, err = n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		n.Pass(t, func() bool { return n.Execution(t, id).Status.Final() }, "the run ends")
		require.Equal(t, entity.StatusSuccess, n.Execution(t, id).Status)
	})
}

// A run that waits for its job was due before: it starts when the former run ends, however late the clock says it is.
func TestARunThatWaitsForItsJobDoesNotWaitOutAStep(t *testing.T) {
	for _, overlap := range []entity.OverlapPolicy{entity.OverlapSerial, entity.OverlapReplace} {
		for name, step := range steps {
			bubble(t, string(overlap)+" "+name, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				release := n.Script.Hold()
				job := n.Add(t, enginetest.Job("job", func(j *entity.Job) { j.Overlap, j.MaxQueued = overlap, 5 }))
				startRun(t, n, job.ID)
				n.Script.Await(t, 1)
				second, effect := trigger(t, n, job.ID)
				n.Clock.Jump(step)
				n.Commits.AfterCommit(effect)
				release()
				n.AwaitStatus(t, second[0].ID, entity.StatusSuccess)
			})
		}
	}
}

// A run behind one in back-off waits as long as that.
func TestAQueueWaitsForABackOffAndNotForTheClock(t *testing.T) {
	for name, step := range steps {
		bubble(t, name, func(t *testing.T) {
			n := startedNode(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("job", backingOff(func(j *entity.Job) {
				j.Overlap, j.MaxQueued = entity.OverlapSerial, 5
			})))
			id := failOnce(t, n, job.ID)
			second, effect := trigger(t, n, job.ID)
			n.Commits.AfterCommit(effect)
			stepsDuring(t, n, step, id)
			n.AwaitStatus(t, id, entity.StatusSuccess)
			require.Equal(t, second[0].ID, n.Script.Await(t, 3)[2].Execution.ID)
		})
	}
}

// A run that is delayed waits for a moment: that is the clock's, as all that is planned.
func TestADelayedRunFollowsTheClock(t *testing.T) { synctest.Test(t, aDelayedRunFollowsTheClock) }

func aDelayedRunFollowsTheClock(t *testing.T) {
	n := startedNode(t, enginetest.Options{})
	release := n.Script.Hold()
	defer release()
	job := n.Add(t, enginetest.Job("job", func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 5 }))
	due := enginetest.Noon.Add(time.Minute)
	fire := entity.ExtraFire(entity.TriggerManual, enginetest.Noon, due, enginetest.Noon, "")
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{job.ID})
		if err != nil {
			return err
		}
		_, err = n.Admitter.Fire(ctx, tx, enginetest.Noon, jobs[job.ID], fire)
		return err
	})
	exec := n.Executions(t, job.ID)[0]
	until, ok := exec.Claim.ScheduledUntil()
	require.True(t, ok)
	require.Equal(t, due, until)
	n.Clock.Jump(2 * time.Minute)
	_, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	n.Script.Await(t, 1)
}
