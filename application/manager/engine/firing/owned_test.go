package firing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// A job that was changed by another node is planned here as soon as this one
// looks, and not later than by the next scan.
func TestAJobThatAnotherNodeChangedIsLookedAt(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	due := n.Add(t, enginetest.Job("soon", enginetest.Every(time.Second)))
	far := n.Add(t, enginetest.Job("far", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.At = schedule.Once, enginetest.Noon.Add(time.Hour)
	}))
	require.Zero(t, n.Planner.Held())
	require.NoError(t, n.Planner.Refresh(t.Context(), []string{due.ID, far.ID, "none"}))
	require.Equal(t, 1, n.Planner.Held())
	n.Change(t, due.ID, func(j *entity.Job) { j.Status, j.DueTime = entity.JobPaused, time.Time{} })
	require.NoError(t, n.Planner.Refresh(t.Context(), []string{due.ID}))
	require.Zero(t, n.Planner.Held(), "paused elsewhere")
}

// Only the jobs of a node's partitions are held by it.
func TestOnlyOwnPartitionsArePlanned(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	var jobs []*entity.Job
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		jobs = append(jobs, n.Add(t, enginetest.Job(name, enginetest.Every(time.Second))))
	}
	n.Own(jobs[0].Partition, jobs[1].Partition)
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
	own := n.Planner.Held()
	require.Less(t, own, len(jobs))
	require.GreaterOrEqual(t, own, 2)
	n.Planner.JobChanged(jobs[2])
	if jobs[2].Partition != jobs[0].Partition && jobs[2].Partition != jobs[1].Partition {
		require.Equal(t, own, n.Planner.Held(), "a hint for another's job is left alone")
	}
	n.Own()
	require.NoError(t, n.Planner.Rebalanced(t.Context()))
	require.Zero(t, n.Planner.Held())
	n.Own(jobs[0].Partition)
	require.NoError(t, n.Planner.Rebalanced(t.Context()))
	require.Positive(t, n.Planner.Held(), "what is due in new partitions is found at once")
}

// The jobs that a group holds take no room from others, however many they are and
// however late: while it is paused, and until what the pause skipped is recorded.
func TestHeldJobsTakeNoRoomInAScan(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{MaxHeld: 8})
	at := func(group string, after time.Duration) func(j *entity.Job) {
		return func(j *entity.Job) {
			j.Group, j.Schedule.Kind, j.Schedule.At = group, schedule.Once, enginetest.Noon.Add(after)
		}
	}
	for i := range 20 {
		n.Add(t, enginetest.Job(fmt.Sprint("held-", i), at("held", time.Second)))
	}
	first := n.Add(t, enginetest.Job("first", at("free", 2*time.Second)))
	second := n.Add(t, enginetest.Job("second", at("free", 20*time.Second)))
	hold := func(paused bool) {
		_, err := n.Store.PauseGroup(t.Context(), "held", paused, entity.Pause{}, n.Time.Now())
		require.NoError(t, err)
		n.Planner.GroupsChanged()
	}
	scan := func() {
		n.Clock.Advance(10 * time.Second) // both are late, beyond the part of the due set for what is on time
		_, err := n.Planner.Scan(t.Context())
		require.NoError(t, err)
		n.Fire(t)
	}
	hold(true)
	scan()
	require.Len(t, n.Executions(t, first.ID), 1)
	n.Clock.Advance(10 * time.Second)
	hold(false)
	scan()
	require.Len(t, n.Executions(t, second.ID), 1)
}
