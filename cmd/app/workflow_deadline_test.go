package app_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A workflow run that misses its deadline is cancelled with its live steps, and its steps that run last run.
func TestAMissedDeadlineCancelsAWorkflowRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		s.reply = func(ctx context.Context, run entity.Run) entity.Outcome {
			switch run.Job.Name {
			case "late":
				return entity.Opened()
			case "late/slow":
				return untilStopped(ctx, run)
			}
			return entity.Succeeded("done")
		}
		n := startNode(t, newConfig(t), s)
		defer n.stop()
		now := n.StoreTime().Now().UTC()
		at := now.Add(3 * time.Minute)
		job := n.create(newJob("late", func(j *entity.Job) {
			j.Type, j.Class = entity.JobWorkflow, ""
			j.Data = `{"steps": [{"name": "slow", "custom": {"jobClass": "noop"}},
				{"name": "tell", "finally": true, "custom": {"jobClass": "noop"}}]}`
			every(2 * time.Minute)(j)
			j.Deadline = entity.JobDeadline{At: at.Format("15:04"), TimeZone: "UTC", OnMiss: entity.MissCancel}
		}))
		time.Sleep(2 * time.Minute)
		n.await("the step runs", func() bool { return len(s.runs()) == 2 })
		root := n.rows(job.ID)[0].ID
		require.True(t, n.row(root).Open())
		time.Sleep(time.Minute)
		n.awaitStatus(root, entity.StatusCancelled)
		step := n.awaitSteps(root, job.ID, "slow")[0]
		require.Equal(t, entity.StatusCancelled, step.Status)
		require.Equal(t, entity.StatusSuccess, n.awaitSteps(root, job.ID, "tell")[0].Status)
	})
}
