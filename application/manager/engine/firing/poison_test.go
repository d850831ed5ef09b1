package firing_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var errBroken = errors.New("no such column")

// The one job of a batch that cannot be fired, whatever the reason, holds up
// none of the others (engine rule 10).
func TestOneJobThatCannotBeFiredHoldsUpNobody(t *testing.T) {
	eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
		jobs := addMany(t, n, 12, nil)
		// For a reason that is no value's.
		n.Planner.Store = insertStore{n.Faults, "", func(execs []*entity.Execution) error {
			if anyOf(execs, jobs[5].ID) {
				return errBroken
			}
			return nil
		}}
		n.Start(t)
		require.ErrorIs(t, fireOnce(t, n), errBroken)
		for i, job := range jobs {
			if i == 5 {
				require.Empty(t, n.Executions(t, job.ID), "nothing of it is decided")
				require.Equal(t, second(0), n.Job(t, job.ID).NextFireTime)
				continue
			}
			n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		}
		n.Planner.Store = n.Faults
		n.Fire(t)
		n.AwaitStatus(t, n.Executions(t, jobs[5].ID)[0].ID, entity.StatusSuccess)
	})
}
