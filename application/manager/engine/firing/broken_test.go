package firing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A schedule that no longer compiles, as when a zone leaves the zone data, is
// recorded and stops the job, instead of being due for ever.
func TestAJobWhoseScheduleIsBrokenIsPausedWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job, sound := n.Add(t, everySecond(nil)), n.Add(t, everySecond(func(j *entity.Job) { j.Name = "sound" }))
		n.Change(t, job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Mars/Olympus" })
		n.Fire(t)
		execs := n.Executions(t, job.ID)
		require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(execs))
		require.Contains(t, execs[0].ErrorMessage, "paused")
		require.Contains(t, execs[0].ErrorMessage, "timeZone")
		after := n.Job(t, job.ID)
		require.Equal(t, entity.JobPaused, after.Status)
		require.Zero(t, after.DueTime)
		require.Len(t, n.Events(t), 1)
		require.Len(t, n.Executions(t, sound.ID), 1)
		n.Fire(t)
		require.Len(t, n.Executions(t, job.ID), 1)
		n.Start(t)
	})
}

// The job is paused as it was scanned; who edited it since has the say.
func TestABrokenJobThatWasEditedMeanwhileIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(j *entity.Job){
		"mended": func(j *entity.Job) { j.Schedule.TimeZone = "UTC"; j.Version++ },
		"paused": func(j *entity.Job) { j.Status, j.DueTime = entity.JobPaused, time.Time{} },
		"moved":  func(j *entity.Job) { j.NextFireTime, j.DueTime = second(60), second(60) },
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(nil))
			n.Change(t, job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Mars/Olympus" })
			var edited *entity.Job
			n.Faults.Before(func(tx string) {
				if tx == "fire.broken" && edited == nil {
					n.Change(t, job.ID, change)
					edited = n.Job(t, job.ID)
				}
			})
			scan(t, n)
			require.Equal(t, edited, n.Job(t, job.ID))
			require.Empty(t, n.Executions(t, job.ID))
			require.Empty(t, n.Events(t))
		})
	}
}

// While the store is away nothing is decided about it; the next scan tries
// again, once.
func TestABrokenJobWaitsForTheStore(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"refused": enginetest.Refused, "commit lost": enginetest.LostCommit,
		"reply lost": enginetest.LostReply, "run twice": enginetest.Deadlock,
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(nil))
			n.Change(t, job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Mars/Olympus" })
			n.Faults.Next("fire.broken", fault)
			scan(t, n)
			scan(t, n)
			scan(t, n)
			require.Equal(t, entity.JobPaused, n.Job(t, job.ID).Status)
			require.Equal(t, 2, n.Job(t, job.ID).Version)
			require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(n.Executions(t, job.ID)))
			require.Len(t, n.Events(t), 1)
			require.Zero(t, n.Planner.Held())
		})
	}
}

// A change announced on this node may be broken as well; the scan deals with it.
func TestAHintOfABrokenJobIsLeftToTheScan(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(nil))
	broken := *job
	broken.Schedule.TimeZone = "Mars/Olympus"
	n.Planner.JobChanged(&broken)
	require.Zero(t, n.Planner.Held())
}
