package firing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
)

// Rule 27: nothing is fired by a node whose lease has ended, though it may not
// know that yet; what is due stays due.
func TestANodeWithoutALeaseFiresNothing(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(nil))
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
	n.Clock.Advance(time.Second)
	n.Lease.Lose()
	jobs, err := n.Planner.FireDue(t.Context())
	require.NoError(t, err)
	require.Zero(t, jobs)
	require.Empty(t, n.Executions(t, job.ID))
	n.Lease.Regain()
	n.Fire(t)
	require.Len(t, n.Executions(t, job.ID), 2)
}
