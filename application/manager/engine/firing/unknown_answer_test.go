package firing_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errUnknown = &repository.UnknownError{Err: errors.New("error 1146 (42S02): the table does not exist")}

// While the store gives every batch an unknown answer, all fires stay due, and none is left out.
func TestAnAnswerThatNobodyKnowsLeavesFiresDue(t *testing.T) {
	eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
		jobs := addMany(t, n, 12, func(_ int, j *entity.Job) { j.Overlap = entity.OverlapDiscard })
		var failing atomic.Bool
		failing.Store(true)
		n.Planner.Store = insertStore{n.Faults, "", func([]*entity.Execution) error {
			if failing.Load() {
				return errUnknown
			}
			return nil
		}}
		n.Start(t)
		for range 4 {
			require.ErrorIs(t, fireOnce(t, n), errUnknown)
		}
		for _, job := range jobs {
			require.Empty(t, n.Executions(t, job.ID))
			require.Equal(t, second(0), n.Job(t, job.ID).NextFireTime, "no cursor moves")
		}
		failing.Store(false)
		n.Fire(t)
		for _, job := range jobs {
			n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		}
	})
}

// A job whose fire alone meets an unknown answer never holds up others. Its fire stays due, and is recorded as failed
// when the answer has lasted.
func TestAJobThatAloneMeetsAnUnknownAnswerIsSetAside(t *testing.T) {
	eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
		jobs := addMany(t, n, 6, func(_ int, j *entity.Job) { enginetest.Every(time.Minute)(j) })
		bad := jobs[2]
		n.Planner.Store = insertStore{n.Faults, "", func(execs []*entity.Execution) error {
			if anyOf(execs, bad.ID) && execs[0].Status != entity.StatusFailed {
				return errUnknown
			}
			return nil
		}}
		n.Start(t)
		require.NoError(t, fireOnce(t, n), "the others are fired, and the worker does not pause")
		for i, job := range jobs {
			require.Len(t, n.Executions(t, job.ID), min(1, max(i-2, 2-i)))
		}
		require.Equal(t, second(0), n.Job(t, bad.ID).NextFireTime)
		for range 8 {
			n.Clock.Advance(4 * time.Second)
			_, err := n.Planner.Scan(t.Context())
			require.NoError(t, err)
			_, _ = n.Planner.FireDue(t.Context())
		}
		execs := n.Executions(t, bad.ID)
		require.Len(t, execs, 1)
		require.Equal(t, entity.StatusFailed, execs[0].Status)
		require.Equal(t, entity.ReasonInvalid, execs[0].Reason)
		require.Contains(t, execs[0].ErrorMessage, "1146")
		require.Equal(t, entity.JobEnabled, n.Job(t, bad.ID).Status)
	})
}
