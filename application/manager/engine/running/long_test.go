package running_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// What the schedule asked for is seen once it is old enough; runs by hand are not.
func TestLongAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("planned", enginetest.Every(time.Hour)))
		byHand := n.Add(t, enginetest.Job("by hand", nil))
		release := n.Script.Hold()
		n.Fire(t)
		startRun(t, n, byHand.ID)
		n.Script.Await(t, 2)
		start := n.Time.Now()
		require.Empty(t, n.Runner.Long(5*time.Second))
		n.Clock.Advance(5 * time.Second)
		long := n.Runner.Long(5 * time.Second)
		require.Len(t, long, 1)
		require.Equal(t, []any{job.ID, 1, 5 * time.Second}, []any{long[0].JobID, long[0].Attempt, long[0].Age})
		require.WithinDuration(t, start, long[0].Start, time.Second)
		exec := n.Execution(t, long[0].ExecutionID)
		require.Equal(t, entity.StatusRunning, exec.Status)
		release()
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		synctest.Wait()
		require.Empty(t, n.Runner.Long(0))
	})
}

// A step of a workflow run is seen, too; an item of a map is not, since the map is the run.
func TestLongAttemptsOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		flow := n.Add(t, enginetest.Job("flow", func(j *entity.Job) {
			j.Type, j.Class = entity.JobWorkflow, ""
			j.Data = `{"steps": [{"name": "a", "custom": {"jobClass": "noop"}},
				{"name": "m", "forEach": {"items": [1]}, "custom": {"jobClass": "noop"}}]}`
		}))
		release := n.Script.Hold()
		startRun(t, n, flow.ID)
		enginetest.Await(t, func() bool {
			_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
			require.NoError(t, err)
			return len(n.Script.Runs()) == 2
		}, "the step and the item begin")
		n.Clock.Advance(5 * time.Second)
		long := n.Runner.Long(5 * time.Second)
		require.Len(t, long, 1)
		require.Equal(t, workflow.StepID(flow.ID, "a"), long[0].JobID)
		release()
		synctest.Wait()
	})
}
